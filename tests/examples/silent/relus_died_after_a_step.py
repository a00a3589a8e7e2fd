# zero_gradient at 14: body.weight, relu
import torch
from torch import nn

torch.manual_seed(0)
body, head = nn.Linear(2, 6), nn.Linear(6, 1)
optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=20.0)
x = torch.rand(8, 2)
y = torch.rand(8, 1)


def forward(x):
    hidden = body(x)
    hidden = torch.relu(hidden)
    return head(hidden)


for step in range(8):
    loss = nn.functional.l1_loss(forward(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
