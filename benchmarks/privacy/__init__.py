"""What a curious server reads from a site's honest answers: attacks, how often they succeed, from how few rows."""
