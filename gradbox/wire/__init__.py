"""The contract of the trace: every value that recorder, server, page and other tools exchange."""
