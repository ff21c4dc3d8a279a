"""Where we are: facts about the machine, what the process may use of it, and what makes its numbers doubtful."""

from roofline.host.environment import read_environment
from roofline.host.limits import memory_available_bytes, memory_budget_bytes, read_affinity, usable_cpus
from roofline.host.machine import read_machine
from roofline.host.topology import numa_nodes_of
from roofline.model.host_caveat import host_caveats

__all__ = [
    "host_caveats",
    "memory_available_bytes",
    "memory_budget_bytes",
    "numa_nodes_of",
    "read_affinity",
    "read_environment",
    "read_machine",
    "usable_cpus",
]
