"""What strangers can do to a server within its default limits, beside a polite visitor whose waits are measured.

`python -m tests.assault` plays every assault against a server of its own, started as a host would, and prints what came
of it; `tests/deployment/test_assault.py` plays some of them shortly.
"""
