# shared_memory at 5: `table`
import torch

table = torch.arange(6.0).reshape(3, 2)
table[0], table[2] = table[2], table[0]
print(table)
