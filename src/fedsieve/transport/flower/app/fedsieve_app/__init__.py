"""What travels as a Flower app: two names."""
