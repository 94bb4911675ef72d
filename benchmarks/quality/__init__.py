"""How good the selected features are: every method of the registry, by what labels it sees, with two classifiers."""
