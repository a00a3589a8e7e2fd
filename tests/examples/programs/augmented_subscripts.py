# Augmented assignment to an index, a slice and a list of indices.
import torch
row = torch.arange(5.0)
row[1] += 16
row[2:4] -= 1
row[[0, 4]] *= -2
row[-1] /= 4
print(row)
