"""The matrix: what copying, sharing, viewing and converting do to a tensor, asked of this host's own torch."""
