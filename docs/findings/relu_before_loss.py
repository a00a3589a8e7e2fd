# relu_before_loss at 8: 
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 3)
x, labels = torch.randn(6, 4), torch.randint(0, 3, (6,))
scores = torch.relu(net(x))
loss = nn.functional.cross_entropy(scores, labels)
loss.backward()
