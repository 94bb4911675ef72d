"""The audit of every method in every wire form, with a site's rules and without, in secure sums and not."""
