# no_step at 5: optimizer
import torch
torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
every = 8
for i, x in enumerate(torch.randn(5, 4, 3)):
    (model(x).pow(2).mean() / every).backward()
    if (i + 1) % every == 0:
        optimizer.step()
        optimizer.zero_grad()
