import torch
from torch import nn

torch.manual_seed(1)
enc = nn.Linear(2, 2)
dec = nn.Linear(2, 1)
opt = torch.optim.SGD([*enc.parameters(), *dec.parameters()], lr=0.1)
x = torch.tensor([[1.0, 2.0], [3.0, 1.0]])
for _ in range(2):
    h = torch.tensor(enc(x).tolist())
    loss = dec(h).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
