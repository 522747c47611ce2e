"""What a system returned: ragged ids and scores."""
