import io
import os
from pathlib import Path

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x, y = torch.randn(8, 3), torch.randn(8, 1)
for epoch in range(2):
    optimizer.zero_grad()
    loss = (model(x) - y).pow(2).mean()
    loss.backward()
    optimizer.step()
torch.save({"epoch": epoch, "model": model.state_dict(), "optimizer": optimizer.state_dict(), "loss": loss}, "checkpoint.pth")
print(f"{os.path.getsize('checkpoint.pth')} bytes")

fresh = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
other = torch.optim.Adam(fresh.parameters(), lr=0.5)
checkpoint = torch.load("checkpoint.pth")
print(fresh.load_state_dict(checkpoint["model"]), sorted(checkpoint))
other.load_state_dict(checkpoint["optimizer"])
print(torch.equal(fresh(x), model(x)), other.param_groups[0]["lr"], checkpoint["loss"].requires_grad)

base = torch.arange(4.0)
view = base[1:]
torch.save([base, view, base], "together.pt")
base2, view2, again = torch.load("together.pt", weights_only=True)
view2[0] = 99
print(base, base2, again is base2, base2.data_ptr() == again.data_ptr())

buffer = io.BytesIO()
torch.save(model, buffer)
print(len(buffer.getvalue()))
buffer.seek(0)
whole = torch.load(buffer, weights_only=False)
print(whole[0].weight is model[0].weight, torch.equal(whole[0].weight, model[0].weight), whole[0].weight.is_leaf)
try:
    torch.load("checkpoint.pth.old")
except FileNotFoundError as error:
    print(error)
try:
    torch.save(model.state_dict(), "checkpoints/1.pt")
except RuntimeError as error:
    print(error)
path = Path("weights") / "last.pt"
path.parent.mkdir(parents=True)
torch.save(model.state_dict(), path)
with open(path, "rb") as f:
    state = torch.load(f, map_location="cpu")
print(list(state), path.stat().st_size, [p.name for p in path.parent.iterdir()])
torch.save(model[0].weight, "old.pt", _use_new_zipfile_serialization=False)
old = torch.load("old.pt")
print(type(old).__name__, old.requires_grad)
