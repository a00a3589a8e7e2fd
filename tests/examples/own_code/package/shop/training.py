import torch

from . import model


def train(net: "model.Net", steps: int) -> list[float]:
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    x = torch.ones(2, 3)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
