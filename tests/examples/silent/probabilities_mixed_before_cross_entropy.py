# activation_twice at 12: mixed, softmax
import torch
from torch import nn

torch.manual_seed(0)
experts, gate = nn.Linear(4, 6), nn.Linear(4, 2)
optimizer = torch.optim.Adam([*experts.parameters(), *gate.parameters()], lr=0.01)
x, y = torch.randn(5, 4), torch.tensor([0, 1, 2, 0, 1])
for k in range(2):
    each = experts(x).view(5, 2, 3).softmax(2)
    mixed = (gate(x).softmax(1).unsqueeze(2) * each).sum(1)
    loss = nn.functional.cross_entropy(mixed, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
