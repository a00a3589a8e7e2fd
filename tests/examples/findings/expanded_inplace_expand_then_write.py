# expanded_inplace: grid
import torch
row = torch.arange(3.0)
grid = row.expand(4, 3)
grid[0] += 1
grid *= 2  # cause
