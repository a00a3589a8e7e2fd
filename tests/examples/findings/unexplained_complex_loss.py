# unexplained_error: loss complex64
import torch
z = torch.tensor([1 + 1j, 2j], requires_grad=True)
loss = (z * 2).sum()
loss.backward()  # cause
