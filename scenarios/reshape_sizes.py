import torch

batch = torch.arange(6.0)
print(batch.view(2, -1))

last = batch[:5]
print(last.numel())
last.view(2, 3)
