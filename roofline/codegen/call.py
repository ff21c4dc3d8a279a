"""Calls of compiled functions by their address: the caller holds nothing of them that could be inlined.

A kernel is timed exactly as it was compiled, checked and read: its timing loop sees an address, so that no call can
be merged with the next, and one timing loop serves all kernels whose arguments have the same types.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from roofline.codegen import emit


def address_of(dispatcher: Any, signature: tuple[Any, ...]) -> int:
    """Return where the machine code of a Numba function for these argument types begins. It must be compiled."""
    compiled = dispatcher.overloads[signature]
    return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))


def _call_repeatedly(typing_context: Any, address: Any, repeats: Any, result: Any, arguments: Any) -> Any:
    """Call the function at `address` so many times, memory clobbered after each, and return what it returned last.

    `arguments` is a tuple, of the types that the function was compiled for; what it returns has the type of `result`
    (which is what comes back after no call), or is None where `result` is. The loop is in here, and not around a
    single call, because Numba counts references to the arrays of the tuple, which takes longer than a short kernel.
    """
    signature = result(types.int64, types.int64, result, arguments)

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, values: Any) -> ir.Value:
        address_value, repeats_value, first, packed = values
        convention = context.call_conv
        pointer = convention.get_function_type(result, arguments.types).as_pointer()
        function = builder.inttoptr(address_value, pointer)
        unpacked = [builder.extract_value(packed, index) for index in range(len(arguments.types))]
        last = cgutils.alloca_once_value(builder, first)  # type: ignore[no-untyped-call]
        with cgutils.for_range(builder, repeats_value):
            status, returned = convention.call_function(builder, function, result, arguments.types, unpacked)
            with builder.if_then(status.is_error, likely=False):
                convention.return_status_propagate(builder, status)
            builder.store(returned, last)
            emit.clobber_memory(builder)
        return builder.load(last)

    return signature, codegen


# The types of numba's decorator describe the implementation, not what compiled code calls.
call_repeatedly: Callable[..., Any] = intrinsic(_call_repeatedly)
