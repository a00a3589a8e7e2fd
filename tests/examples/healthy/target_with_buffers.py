import copy, torch
from torch import nn

model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
target = copy.deepcopy(model)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for b in torch.rand(3, 4, 2):
    opt.zero_grad()
    model(b).pow(2).mean().backward()
    opt.step()
    with torch.no_grad():
        for k, n in zip(target.state_dict().values(), model.state_dict().values()):
            k.copy_(n)
target.eval()
print(target(torch.rand(4, 2)))
