"""One engine for every comparison: config, trials, records, summaries. Nothing is drawn here."""
