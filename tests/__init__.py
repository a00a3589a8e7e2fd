"""What is tested, in rooms that mirror those of the code; what several rooms use is in `support` and `forks`."""
