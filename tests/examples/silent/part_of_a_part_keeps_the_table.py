# memory_held at 15: last, table
import torch

torch.manual_seed(0)


def last_row():
    table = torch.randn(600, 10)
    total = 0.0
    for block in table.split(200):
        for row in block.split(100):
            total += row.sum().item()
        half = block[:50]
        total -= half.sum().item()
    return row[-1], total


last, total = last_row()
print(last.shape, total)
