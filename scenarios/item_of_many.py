import torch

losses = torch.tensor([0.5, 1.5])
mean = losses.mean()
print(mean.item())

print(losses.tolist())
losses.item()
