# shape_mismatch at 15: scores, labels, 1
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(5, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    x, labels = torch.randn(6, 5), torch.randint(0, 4, (6,))
    scores = net(x)
    loss = nn.functional.cross_entropy(scores, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    correct = (scores.argmax() == labels).sum().item()
    print(epoch, loss.item(), correct / len(labels))
