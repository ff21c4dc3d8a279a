"""What is kept: run files, written durably, read with suspicion, found by name."""
