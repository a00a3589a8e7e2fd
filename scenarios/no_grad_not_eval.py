import torch
from torch import nn

norm = nn.BatchNorm1d(1, momentum=0.5, affine=False)
batch = torch.tensor([[2.0], [6.0]])

with torch.no_grad():
    norm(batch)
print(norm.running_mean, norm.running_var)
untouched = norm.running_mean.item() == 0.0

norm.eval()
norm(batch)
print(norm.running_mean)
