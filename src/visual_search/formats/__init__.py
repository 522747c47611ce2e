"""Bytes to arrays and tables and back; nothing else knows a file layout."""
