import torch
from torch import nn

drop = nn.Dropout(0.5)
x = torch.ones(6)

with torch.no_grad():
    noisy = drop(x)
off = torch.equal(noisy, x)

drop.eval()
calm = drop(x)
print(off, calm is x)

calm[0] = 8.0
print(x)
