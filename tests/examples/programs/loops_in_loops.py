# Nested loops with break, continue and else on both levels.
import torch
grid = torch.zeros(3, 3)
for i in range(3):
    for j in range(3):
        if i == j:
            continue
        if i + j > 3:
            break
        grid[i, j] = i * 4 + j
    else:
        print("row", i, "whole")
print(grid)
