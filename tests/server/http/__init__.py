"""Tests of connections, deadlines, caching, and of the event loop's turns."""
