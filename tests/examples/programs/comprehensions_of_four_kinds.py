# List, dict, set and generator, with conditions and two loops.
import torch
x = torch.arange(4)
print([n * 2 for n in range(5) if n % 2], {k: v for v, k in enumerate("abc")})
print({int(n) % 2 for n in x}, sum(n * n for n in range(4)))
print([(i, j) for i in range(2) for j in range(i + 1)])
