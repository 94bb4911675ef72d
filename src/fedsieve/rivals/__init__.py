"""The methods that the paper compares with, one file each, all under one contract: `fit(X, Y)`, then `order_`."""
