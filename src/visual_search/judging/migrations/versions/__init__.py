"""One migration a file, each with the revision that it follows."""
