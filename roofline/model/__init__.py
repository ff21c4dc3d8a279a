"""What is true: pure values and arithmetic (standard library and msgspec only)."""
