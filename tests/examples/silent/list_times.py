# shared_memory at 3: rows[1], rows
import torch
rows = [torch.zeros(2)] * 3
rows[0][0] = 7
print(rows)
