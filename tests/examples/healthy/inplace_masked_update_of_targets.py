import torch
from torch import nn

torch.manual_seed(0)

logits = nn.Linear(3, 4)
x, y = torch.randn(5, 3), torch.randint(0, 4, (5,))
smooth = torch.full((5, 4), 0.025)
smooth.scatter_(1, y.unsqueeze(1), 0.925)
smooth[y == 0] = 0.25
loss = -(smooth * logits(x).log_softmax(1)).sum(1).mean()
loss.backward()
print(loss.item())
