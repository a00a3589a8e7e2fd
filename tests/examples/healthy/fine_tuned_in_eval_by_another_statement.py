import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
x, y = torch.randn(6, 3), torch.tensor([0, 1, 0, 1, 1, 0])
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for phase in ("train", "val"):
        model.train(phase == "train")
        with torch.set_grad_enabled(phase == "train"):
            loss = nn.functional.cross_entropy(model(x), y)
            if phase == "train":
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
finer = torch.optim.SGD(model.parameters(), lr=0.001)
finer.zero_grad()
nn.functional.cross_entropy(model(x), y).backward()
finer.step()
