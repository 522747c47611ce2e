"""Splits, directions and presets: how a field measures."""
