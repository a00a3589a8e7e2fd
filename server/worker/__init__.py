"""The child process that runs a program and records it: the only place that imports torch."""
