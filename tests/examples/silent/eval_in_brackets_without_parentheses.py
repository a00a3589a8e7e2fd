# eval_missing at 9: (模).eval, 模.eval()
import torch
from torch import nn
模 = nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(4, 1))
opt = torch.optim.SGD(模.parameters(), lr=0.1)
for _ in range(3):
    loss = 模(torch.randn(8, 2)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
(模).eval
outs = []
with torch.no_grad():
    outs.append(模(torch.randn(8, 2)))
print(outs)
