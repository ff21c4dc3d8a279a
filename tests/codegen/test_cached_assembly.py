"""The assembly that is audited is that of the code that runs, also when Numba loaded it from its cache."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

MODULE = """
import json

from numba import njit
from roofline.codegen.assembly import assembly_of
from roofline.codegen.reading import innermost_loops
from roofline.codegen.intrinsics import arithmetic_chains


@njit(cache=True)
def run(turns, factor):
    return arithmetic_chains("mul_add", 2, 6, turns, factor, factor)


result = run(10, 0.5)
hits = sum(run.stats.cache_hits.values())
loops = [[instruction.text for instruction in loop] for loop in innermost_loops(assembly_of(run))]
print(json.dumps({"result": result, "hits": hits, "loops": loops}))
"""


def test_code_from_the_cache_has_the_same_hot_loops_as_fresh_code(tmp_path: Path) -> None:
    """The slow one here: two processes that import Numba."""
    module = tmp_path / "cached.py"
    module.write_text(MODULE)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": os.pathsep.join(sys.path)}
    answers = [
        json.loads(subprocess.check_output([sys.executable, module], env=environment, timeout=120)) for _ in range(2)
    ]
    fresh, cached = answers
    assert (fresh["hits"], cached["hits"]) == (0, 1)
    assert fresh["result"] == cached["result"]
    assert fresh["loops"] == cached["loops"]
    assert any(sum("mul" in text for text in loop) >= 6 for loop in fresh["loops"])
