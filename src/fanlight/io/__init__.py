"""Input and output: files played back as a stream, and results written by key."""
