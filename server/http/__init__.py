"""HTTP: connections and their bounds, the protocol with its deadlines, caching, security headers."""
