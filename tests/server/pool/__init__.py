"""Tests of the queue, the executions and the workers of one machine."""
