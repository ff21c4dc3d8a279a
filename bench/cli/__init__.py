"""The commands: each a few lines that call the library."""
