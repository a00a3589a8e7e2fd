# int_requires_grad: p
import torch
p = torch.nn.Parameter(torch.tensor([1, 2]))  # cause
