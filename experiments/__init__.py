"""The papers' experiments, run again: one folder a paper; and `seams`, a question of our own."""
