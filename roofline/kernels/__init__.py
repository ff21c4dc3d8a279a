"""What is run: kernels, each declared in one place with its work, data and reference."""
