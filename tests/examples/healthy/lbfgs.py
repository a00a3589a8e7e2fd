import torch
from torch import nn

torch.manual_seed(0)
w = torch.zeros(2, requires_grad=True)
optimizer = torch.optim.LBFGS([w], max_iter=4)


def closure():
    optimizer.zero_grad()
    loss = ((w - torch.tensor([1.0, 2.0])) ** 2).sum()
    loss.backward()
    return loss


optimizer.step(closure)
print(w)
