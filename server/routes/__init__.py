"""The addresses. Thin: what is decided is decided elsewhere."""
