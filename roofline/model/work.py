"""What one call of a kernel has to do: operations and compulsory traffic."""

from __future__ import annotations

from roofline.model.struct import Value


class Work(Value, frozen=True, kw_only=True):
    """Flops and compulsory bytes of one call.

    Compulsory traffic counts each distinct element once, however often the code touches it: what an
    infinitely large cache would still have to move. An FMA is 2 flop.
    """

    flops: int
    """Floating-point operations; a fused multiply-add counts 2, a division or square root counts 1."""
    read_bytes: int
    """Distinct bytes whose first access is a read."""
    write_bytes: int
    """Distinct bytes written."""
    allocate_bytes: int = 0
    """Distinct bytes written but never read before: what a write-allocate cache fetches in vain."""

    @property
    def bytes(self) -> int:
        """Read plus written bytes: the convention of STREAM, and the default."""
        return self.read_bytes + self.write_bytes

    @property
    def bus_bytes(self) -> int:
        """Bytes that cross the bus of a write-allocate memory system without non-temporal stores."""
        return self.bytes + self.allocate_bytes

    @property
    def footprint_bytes(self) -> int:
        """Distinct bytes touched: read, or written without having been read."""
        return self.read_bytes + self.allocate_bytes

    @property
    def flop_per_byte(self) -> float:
        """Arithmetic intensity, flops / (read + written bytes); 0 for a kernel that computes nothing."""
        return self.flops / self.bytes if self.bytes else 0.0

    @property
    def write_share(self) -> float:
        """Written bytes / all bytes, between 0 (load only) and 1 (store only)."""
        return self.write_bytes / self.bytes if self.bytes else 0.0

    @property
    def allocate_share(self) -> float:
        """Bytes that are written without having been read / all bytes."""
        return self.allocate_bytes / self.bytes if self.bytes else 0.0
