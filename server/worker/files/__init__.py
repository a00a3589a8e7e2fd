"""A program's files: a file system in the process's memory that replaces the machine's."""
