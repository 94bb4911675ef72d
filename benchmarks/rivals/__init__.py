"""How fast the rivals are, as ratios against plain loops in one run on one machine."""
