"""For operators: log, metrics, health check, checks of settings."""
