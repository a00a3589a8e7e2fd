"""Tests of the program as text: pastes, refusals, repairs and fixes."""
