"""Sample data on which everything can be tried."""
