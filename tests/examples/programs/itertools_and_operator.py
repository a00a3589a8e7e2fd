# Pieces of the standard library that stand in teaching code.
import itertools
import math
import operator
import torch
print(list(itertools.product([0, 1], "ab")), list(itertools.accumulate([1, 2, 4], operator.mul)))
print(math.prod(torch.zeros(2, 3).shape), math.isclose(math.pi, torch.pi), operator.itemgetter(1)([4, 8]))
print(*itertools.islice(itertools.count(4, 4), 3), *zip("ab", itertools.repeat(0)))
