"""Attacks: functions from what a server was told, or asks, to a guess at rows; none of them looks at the rows."""
