"""The recorder: runs with a program, observes what each statement did, and makes the steps of the trace."""
