"""Pictures and the roles they have: what stands in two roles and must not, and what that does to the numbers."""
