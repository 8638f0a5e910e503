"""How time and memory grow, one thing at a time."""
