"""Embedders: decoded images to float32 vectors, one embedder a file behind one contract."""
