# shape_mismatch at 13: predicted, labels
import torch
from torch import nn
torch.manual_seed(0)
x = torch.randn(20, 3)
labels = (x.sum(1, keepdim=True) > 0).float()
net = nn.Linear(3, 1)
optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
for epoch in range(3):
    optimizer.zero_grad()
    nn.functional.binary_cross_entropy_with_logits(net(x), labels).backward()
    optimizer.step()
predicted = torch.round(torch.sigmoid(net(x).squeeze(1))); correct = (predicted == labels).sum().item()
print(correct / len(labels))
