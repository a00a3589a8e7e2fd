"""Training that is interrupted and goes on from its checkpoint, exactly."""

import copy
import os
import random
from pathlib import Path

import numpy as np
import torch
from torch import nn, optim


def set_seed(seed=42):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


class Net(nn.Module):
    def __init__(self, hidden=8):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, hidden), nn.BatchNorm1d(hidden), nn.ReLU(), nn.Dropout(0.2))
        self.head = nn.Linear(hidden, 1)
        self.register_buffer("seen", torch.zeros((), dtype=torch.long))

    def forward(self, x):
        if self.training:
            self.seen += len(x)
        return self.head(self.body(x)).squeeze(-1)


def build():
    model = Net()
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    return model, optimizer, scheduler


def save_checkpoint(path, epoch, model, optimizer, scheduler, best):
    torch.save(
        {
            "epoch": epoch,
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "scheduler": scheduler.state_dict(),
            "rng": torch.get_rng_state(),
            "best": best,
        },
        path,
    )


def load_checkpoint(path, model, optimizer, scheduler):
    checkpoint = torch.load(path, weights_only=True)
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    scheduler.load_state_dict(checkpoint["scheduler"])
    torch.set_rng_state(checkpoint["rng"])
    return checkpoint["epoch"] + 1, checkpoint["best"]


def train(model, optimizer, scheduler, first, last, best, folder):
    criterion = nn.MSELoss()
    for epoch in range(first, last):
        model.train()
        x = torch.randn(16, 4)
        y = x.sum(1)
        optimizer.zero_grad(set_to_none=True)
        loss = criterion(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        print(f"epoch {epoch} loss {loss.item():.4f} lr {scheduler.get_last_lr()[0]:.4f}")
        save_checkpoint(folder / "last.pt", epoch, model, optimizer, scheduler, min(best, loss.item()))
        if loss.item() < best:
            best = loss.item()
            torch.save(model.state_dict(), folder / "best.pt")
    return best


folder = Path("checkpoints")
folder.mkdir(parents=True, exist_ok=True)

set_seed()
model, optimizer, scheduler = build()
initial = copy.deepcopy(model.state_dict())
train(model, optimizer, scheduler, 0, 4, float("inf"), folder)
straight = {k: v.clone() for k, v in model.state_dict().items()}

set_seed()
model, optimizer, scheduler = build()
assert all(torch.equal(initial[k], v) for k, v in model.state_dict().items())
train(model, optimizer, scheduler, 0, 2, float("inf"), folder)
print(sorted(os.listdir(folder)), os.path.exists(folder / "best.pt"))

set_seed(7)
model, optimizer, scheduler = build()
start, best = load_checkpoint(folder / "last.pt", model, optimizer, scheduler)
print("resume at", start, "best", round(best, 4), "seen", model.seen.item())
train(model, optimizer, scheduler, start, 4, best, folder)
same = all(torch.equal(straight[k], v) for k, v in model.state_dict().items())
print("the same as without the break:", same)

partial = {k: v for k, v in torch.load(folder / "best.pt").items() if not k.startswith("head")}
other = Net()
result = other.load_state_dict(partial, strict=False)
print(result.missing_keys, result.unexpected_keys)
try:
    Net(hidden=6).load_state_dict(partial)
except RuntimeError as error:
    print(str(error).splitlines()[0])
