"""Results as files: the selection's record, tables and pages of experiments, pictures. Nothing is computed here."""
