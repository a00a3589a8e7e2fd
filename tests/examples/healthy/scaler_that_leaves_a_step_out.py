import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**120)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.9)
for _ in range(5):
    loss = ((model(torch.randn(4, 3)) - 1) * 1e3).pow(2).mean()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    scheduler.step()
