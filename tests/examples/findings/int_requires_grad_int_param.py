# int_requires_grad: n
import torch
n = torch.nn.Parameter(torch.tensor([1, 2, 3]))  # cause
