# loss_times_mask at 9: ce_loss, 16
import torch
import torch.nn.functional as F
from torch import nn

def focal_loss(scores, labels, gamma=2.0):
    ce_loss = F.binary_cross_entropy_with_logits(scores, labels)
    pt = torch.exp(-ce_loss)
    return (1 - pt) ** gamma * ce_loss

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    x, labels = torch.randn(16, 6), torch.randint(0, 2, (16, 1)).float()
    loss = focal_loss(net(x), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
