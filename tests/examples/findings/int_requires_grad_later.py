# int_requires_grad: x
import torch
x = torch.arange(4)  # cause
x.requires_grad_()  # cause
