"""A release: what must agree, what is built, and what the files that go out must have."""
