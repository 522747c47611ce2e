"""A query to ranked ids and scores."""
