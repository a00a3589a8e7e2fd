# A module with a layer, a plain attribute and a forward; gradients by name.
import torch
from torch import nn
import torch.nn.functional as F
class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self._gain = 2.0
        nn.init.ones_(self.layer.weight)
        nn.init.zeros_(self.layer.bias)
    def forward(self, x):
        return F.relu(self.layer(x)) * self._gain
net = Scorer()
out = net(torch.tensor([[1.0, 2.0]]))
out.sum().backward()
print(net, out)
for name, parameter in net.named_parameters():
    print(name, tuple(parameter.shape), parameter.grad)
