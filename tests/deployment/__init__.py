"""Tests of the image, the files of deploy/, supported versions, and a server under faults and load."""
