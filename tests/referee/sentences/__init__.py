"""The referee of sentences: what is said of a run, held against live objects in plain CPython."""
