"""What the kernels can hold."""

MAX_ROWS = 1 << 20  # beyond this many rows a fixed-point sum could leave 63 bits
