"""Several windows at once over events that last: levels, or a list of queries."""
