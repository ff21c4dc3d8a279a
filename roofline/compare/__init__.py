"""What changed between two runs, and whether the numbers can tell."""
