# Tuples, nested tuples, stars and lists as targets; a swap; a named tuple of torch's.
import torch
a, b = torch.tensor([1.0, 2.0])
(c, d), *rest = [(3, 4), 5, 6]
[e, *middle, f] = range(5)
largest, place = torch.tensor([1.0, 8.0, 2.0]).max(0)
a, b = b, a
print(a, b, c, d, rest, e, middle, f, largest, place)
