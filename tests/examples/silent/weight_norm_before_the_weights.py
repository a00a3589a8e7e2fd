# index_copy at 8: `m.weight`, _weight_norm
import torch
from torch import nn
from torch.nn.utils.parametrizations import weight_norm

def init_weights(m):
    if isinstance(m, nn.Linear):
        m.weight.data.normal_(0.0, 0.01)

torch.manual_seed(0)
net = nn.Sequential(weight_norm(nn.Linear(3, 4)), nn.ReLU(), nn.Linear(4, 1))
net.apply(init_weights)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(8, 3), torch.randn(8, 1)
for _ in range(3):
    loss = nn.functional.mse_loss(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
