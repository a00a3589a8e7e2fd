import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
batches = [(torch.randn(5, 4), torch.randint(3, (5,))) for _ in range(4)]
labels = torch.cat([y for _, y in batches])
for _ in range(3):
    scores = torch.empty(0, 3)
    for x, _ in batches:
        scores = torch.cat((scores, net(x)))
    loss = nn.functional.cross_entropy(scores, labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
with torch.no_grad():
    kept = torch.empty(0, 3)
    for x, _ in batches:
        kept = torch.cat((kept, net(x)))
print(kept.argmax(1), loss.item())
