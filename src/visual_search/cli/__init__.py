"""The command line; it computes nothing."""
