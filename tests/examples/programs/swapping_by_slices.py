# Assignments whose right side reads what the left side writes.
import torch
x = torch.arange(4.0)
x[:2], x[2:] = x[2:].clone(), x[:2].clone()
print(x)
x[0], x[1] = x[1], x[0]
print(x)
