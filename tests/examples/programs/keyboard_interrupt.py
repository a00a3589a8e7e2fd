# An exception that `except Exception` lets through.
try:
    raise KeyboardInterrupt("stop")
except Exception:
    print("never")
