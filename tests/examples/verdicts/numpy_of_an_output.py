import torch

weight = torch.tensor([0.5, 0.25], requires_grad=True)
output = torch.tensor([4.0, 8.0]) * weight
print(output.numpy())
