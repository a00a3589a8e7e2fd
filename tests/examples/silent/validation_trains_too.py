# eval_trains at 22: `model`
import torch
from torch import nn
torch.manual_seed(0)
x, y = torch.randn(64, 5), torch.randn(64, 1)
train = [(x[i:i+16], y[i:i+16]) for i in range(0, 48, 16)]
val = [(x[48:], y[48:])]
model = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.05)
loss_fn = nn.MSELoss()
for epoch in range(4):
    for phase in ["train", "val"]:
        if phase == "train":
            model.train()
        else:
            model.eval()
        total = 0.0
        for xb, yb in (train if phase == "train" else val):
            opt.zero_grad()
            loss = loss_fn(model(xb), yb)
            loss.backward()
            opt.step()
            total += loss.item()
        print(epoch, phase, total)
