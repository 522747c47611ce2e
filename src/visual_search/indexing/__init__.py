"""Images to vectors to an index."""
