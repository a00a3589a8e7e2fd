import torch
import numpy as np

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 5)
        self.param = torch.nn.Parameter(torch.rand(3, 4))
    def forward(self, x):
        return self.layer(x + self.param).clamp(min=0.0, max=1.0)
traced = torch.fx.symbolic_trace(Net())
print(traced.graph, traced.code)
print(traced(torch.ones(3, 4)).sum())
for node in traced.graph.nodes:
    print(node.op, node.name, node.target, node.args)
