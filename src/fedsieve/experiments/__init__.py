"""Experiments: one frozen config per run, records as JSON lines, numbers for tables. Nothing is drawn here."""
