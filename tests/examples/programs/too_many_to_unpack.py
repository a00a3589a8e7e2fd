# More values than targets.
first, second = 1, 2, 3
