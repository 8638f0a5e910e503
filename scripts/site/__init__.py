"""What mkdocs does not do by itself: the README as the index, the reference, drawings."""
