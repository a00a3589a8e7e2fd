import torch
import numpy as np

class Own(torch.fx.Tracer):
    def is_leaf_module(self, m, name):
        return isinstance(m, torch.nn.ReLU) or super().is_leaf_module(m, name)
@torch.fx.wrap
def helper(x):
    return x + 1
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.act = torch.nn.ReLU()
    def forward(self, x):
        for k in range(2):
            x = self.act(helper(x)) * k
        return x
net = Net()
graph = Own().trace(net)
print(graph, torch.fx.GraphModule(net, graph)(torch.ones(2)))
