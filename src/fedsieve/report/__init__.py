"""Results as files: the selection's record, its ranking, pictures."""
