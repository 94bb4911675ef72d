"""What secure sums cost: computing at a site and at the server, bytes, and how that grows with the number of sites."""
