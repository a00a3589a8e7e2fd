# grad_none at 11: loss
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x, y = torch.randn(10, 3), torch.randn(10, 1)
for epoch in range(4):
    optimizer.zero_grad()
    out = model(x)
    loss = torch.tensor(nn.functional.l1_loss(out, y).item(), requires_grad=True)
    loss.backward()
    optimizer.step()
    print(loss.item())
