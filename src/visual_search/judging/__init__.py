"""People's marks: who judged what, how far they agree, and what that does to a score."""
