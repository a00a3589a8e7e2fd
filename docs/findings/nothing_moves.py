# nothing_moves at 6: `optimizer`
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)).bfloat16()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
x, y = torch.randn(16, 4), torch.randn(16, 1)
for step in range(4):
    loss = (model(x.bfloat16()) - y).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
