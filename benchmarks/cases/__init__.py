"""What is measured, one file a subject."""
