import torch
from torch import nn
torch.manual_seed(0)
norm = nn.BatchNorm1d(2)
with torch.no_grad():
    for x in torch.randn(5, 8, 2) + 3:
        norm(x)
norm.eval()
print(norm(torch.zeros(1, 2)))
