"""The program: the commands, what a full run measures, and the guide."""
