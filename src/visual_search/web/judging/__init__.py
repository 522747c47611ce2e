"""The pages on which people judge; see docs/how-to/judge-relevance.md."""
