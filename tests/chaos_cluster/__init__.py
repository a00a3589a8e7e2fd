"""Breaks a real cluster while users press Run: a killed worker, a cut network, a broker that restarts.

`python -m tests.chaos_cluster` does it and prints what became of every press. Each worker is in a network namespace of
its own, as on another machine, which takes root.
"""
