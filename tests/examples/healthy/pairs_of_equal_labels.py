import torch
from torch import nn

torch.manual_seed(0)
x, labels = torch.randn(12, 4), torch.randint(0, 3, (12,))
net = nn.Linear(4, 3)
params = list(net.parameters())
optimizer = torch.optim.SGD(params, lr=0.1)
for epoch in range(3):
    scores = net(x)
    best = scores.argmax(1)
    same = best.unsqueeze(1) == best
    column = labels.view(-1, 1)
    positives = (column == labels).float()
    hits = (scores.topk(2, dim=1).indices == column).any(1).float().mean()
    loss = nn.functional.cross_entropy(scores, labels)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(params, 1.0)
    optimizer.step()
    print(same.sum().item(), positives.sum().item(), hits.item(), (best == labels).float().mean().item())
