"""The trace's data format: every value that recorder, server, page and other tools exchange."""
