"""What differential privacy costs Sieve: average precision and selected features against epsilon."""
