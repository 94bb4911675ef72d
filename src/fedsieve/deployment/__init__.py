"""What a federation over a network needs on disk: the agreement, keys and certificates, one folder for each party."""
