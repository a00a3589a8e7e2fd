"""The steps of that history; each one goes up and down."""
