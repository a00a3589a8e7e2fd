# unexplained_error: w g float64 float32
import torch
w = torch.zeros(3, requires_grad=True)
g = torch.zeros(3).double()
w.grad = g  # cause
