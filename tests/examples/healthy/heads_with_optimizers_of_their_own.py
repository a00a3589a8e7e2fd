import torch
from torch import nn

torch.manual_seed(0)
body, left, right = nn.Linear(3, 4), nn.Linear(4, 1), nn.Linear(4, 2)
of_body, of_left, of_right = (torch.optim.Adam(part.parameters(), lr=0.01) for part in (body, left, right))
x, y, z = torch.randn(6, 3), torch.randn(6, 1), torch.tensor([0, 1, 0, 1, 1, 0])
for k in range(3):
    for optimizer in (of_body, of_left, of_right):
        optimizer.zero_grad()
    hidden = body(x).tanh()
    nn.functional.mse_loss(left(hidden), y).backward(retain_graph=True)
    of_left.step()
    nn.functional.cross_entropy(right(hidden), z).backward()
    of_right.step()
    of_body.step()
