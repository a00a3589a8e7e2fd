"""For operators: log, metrics, health, status, checks of settings."""
