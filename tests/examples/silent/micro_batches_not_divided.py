# accumulation_undivided at 9: loss, optimizer
import torch
torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer.zero_grad()
for i, x in enumerate(torch.randn(8, 4, 3)):
    loss = (model(x) - 1).pow(2).mean()
    loss.backward()
    if i % 4 == 3:
        optimizer.step()
        optimizer.zero_grad()
