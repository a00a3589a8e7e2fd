# A group with a note, raised out of the program.
error = ValueError("inner")
error.add_note("a note")
raise ExceptionGroup("outer", [error, OSError("other")])
