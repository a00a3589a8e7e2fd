import torch
from torch import nn

torch.manual_seed(0)

import io

model = nn.Linear(2, 2)
optimizer = torch.optim.Adam(model.parameters())
model(torch.randn(3, 2)).sum().backward()
optimizer.step()
file = io.BytesIO()
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)
file.seek(0)
state = torch.load(file)
again = nn.Linear(2, 2)
again.load_state_dict(state["model"])
resumed = torch.optim.Adam(again.parameters())
resumed.load_state_dict(state["optimizer"])
for _ in range(2):
    resumed.zero_grad()
    again(torch.randn(3, 2)).sum().backward()
    resumed.step()
print(torch.equal(model.weight, again.weight))
