import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.LBFGS(model.parameters(), max_iter=4)
x, y = torch.randn(8, 3), torch.randn(8, 1)
def closure():
    optimizer.zero_grad()
    loss = (model(x) - y).pow(2).mean()
    loss.backward()
    return loss
for _ in range(2):
    optimizer.step(closure)
