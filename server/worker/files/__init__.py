"""A program's files: a file system in its own memory, in the place of the machine's."""
