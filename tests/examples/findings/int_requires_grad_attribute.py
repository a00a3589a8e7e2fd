# int_requires_grad: n
import torch
n = torch.ones(2, dtype=torch.long)  # cause
n.requires_grad = True  # cause
