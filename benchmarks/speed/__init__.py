"""How fast the kernels are, as ratios against peers in one run on one machine."""
