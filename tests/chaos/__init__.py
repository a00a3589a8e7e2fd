"""What breaks around a server, done to a real one: killed workers, vanished clients, floods, programs that crash.

`python -m tests.chaos` does all of it and prints what it measured; `tests/deployment/test_chaos.py` does a short
version. A check raises AssertionError where something else happens than it says.
"""
