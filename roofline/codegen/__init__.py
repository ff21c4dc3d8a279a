"""The only rooms that speak LLVM: emission of hot loops, their Numba intrinsics, and the audit of the assembly."""
