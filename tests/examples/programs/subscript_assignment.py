# Assignment to an index, an ellipsis, a mask and a column.
import torch
grid = torch.zeros(2, 3)
grid[0, 0] = 8.0
grid[..., 2] = 2
grid[grid > 5] = -1
grid[:, 1] = torch.tensor([0.5, 0.25])
print(grid)
