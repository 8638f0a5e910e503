"""What mkdocs does not do by itself for the site: the README as its index, the reference, pictures."""
