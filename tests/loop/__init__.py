"""What decides which tests run, and says how long they took."""
