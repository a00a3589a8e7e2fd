# beyond_reach at 9: `wanted`
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
x = torch.randn(8, 3)
wanted = 20 + 5 * x[:, :1]
scores = torch.sigmoid(net(x))
loss = nn.functional.mse_loss(scores, wanted)
loss.backward()
