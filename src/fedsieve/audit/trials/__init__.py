"""One file per attack: how it is tried in a setting, beside which controls, and what the finding says."""
