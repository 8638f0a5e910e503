"""Results written by key into Delta, SQLite and PostgreSQL: what is there is replaced."""
