# unexplained_error: y leaf
import torch
y = torch.zeros(2, requires_grad=True).double()
y.requires_grad = False  # cause
