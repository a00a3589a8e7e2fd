# nonfinite at 6: std, correction=0
import torch

advantage = torch.ones(1, requires_grad=True)
scaled = advantage * 2
normalized = (scaled - scaled.mean()) / scaled.std()
normalized.sum().backward()
print(advantage.grad)
