"""The parts of a server with workers on other machines."""
