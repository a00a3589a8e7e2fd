import torch

counts = torch.tensor([1, 2, 4])
weights = counts.float().requires_grad_()

(weights * counts).sum().backward()
print(weights.grad)

counts.requires_grad_()
