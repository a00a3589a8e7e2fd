import torch

weight = torch.tensor([1.0, -2.0], requires_grad=True)
loss = (weight * weight).sum()
loss.backward()
weight -= 0.1 * weight.grad
