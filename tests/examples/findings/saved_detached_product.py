# saved_detached: m
import torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
m = w * 2
loss = (m * m).sum()
m.detach_()  # cause
loss.backward()
