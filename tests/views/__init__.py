"""Tests of the views of a whole run: the loom, the net, the table of parameters, the axis of rounds."""
