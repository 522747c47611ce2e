"""What the right answer is."""
