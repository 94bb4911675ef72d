"""What a site's rules cost in quality and time, and what one lying site of ten can do to a selection."""
