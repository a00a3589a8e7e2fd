# An error inside a generator that a call consumes.
import torch
rows = [[1, 2], [3, 4], [5]]
tensors = list(
    torch.tensor(row).view(2)
    for row in rows
)
