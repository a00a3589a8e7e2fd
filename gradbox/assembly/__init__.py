"""Makes a trace of the lines that a recorder wrote, and checks it."""
