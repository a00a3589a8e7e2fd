# shared_memory at 11: history, entry
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
entry, history = {}, []
for epoch in range(3):
    entry["weight"] = model.weight.detach().clone()
    history.append(entry)
    loss = model(torch.ones(1, 2)).pow(2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(history[0]["weight"], history[-1]["weight"])
