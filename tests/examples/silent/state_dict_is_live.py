# same_module at 7: best_state, model
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(2, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
best_state = model.state_dict()
for _ in range(2):
    opt.zero_grad()
    model(torch.ones(2, 2)).pow(2).sum().backward()
    opt.step()
model.load_state_dict(best_state)
