# backward_twice: z
import torch
from torch import nn
torch.manual_seed(0)
enc, h1, h2 = nn.Linear(2, 3), nn.Linear(3, 1), nn.Linear(3, 1)
z = torch.tanh(enc(torch.ones(4, 2)))
loss1 = h1(z).mean()
loss2 = h2(z).pow(2).mean()
loss1.backward()  # cause
loss2.backward()  # cause
