"""Set-ups in which the published row of SSFMLFS might have been measured, and how near each of them comes to it."""
