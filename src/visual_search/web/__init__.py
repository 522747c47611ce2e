"""Pages over indexes and results, each with a JSON twin; they compute nothing."""
