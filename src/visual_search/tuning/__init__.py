"""Settings and their cost: swept, held against each other, and chosen with a bound that holds."""
