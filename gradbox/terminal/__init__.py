"""What the command prints for reading: runs, tables, reports and progress."""
