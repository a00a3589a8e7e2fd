# An exception group split by type.
try:
    raise ExceptionGroup("both", [ValueError("v"), TypeError("t"), ValueError("w")])
except* ValueError as group:
    print("values", [str(error) for error in group.exceptions])
except* TypeError as group:
    print("types", len(group.exceptions))
