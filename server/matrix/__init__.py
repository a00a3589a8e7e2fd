"""The matrix: what copying, sharing, viewing and converting do to a tensor, measured on this host's torch."""
