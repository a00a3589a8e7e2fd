import torch
import numpy as np

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 3)
    def forward(self, x, y):
        z = self.layer(x) * 2
        return torch.relu(z) + y.sum()
net = Net()
program = torch.export.export(net, (torch.ones(4, 2), torch.ones(2)), strict=False)
print(program.graph)
print(program.graph_signature.user_inputs, program.module()(torch.ones(4, 2), torch.ones(2)).shape)
dim = torch.export.Dim("batch")
dynamic = torch.export.export(net, (torch.ones(4, 2), torch.ones(2)), dynamic_shapes={"x": {0: dim}, "y": None}, strict=False)
print(dynamic.module()(torch.ones(7, 2), torch.ones(2)).shape)
print(len(program.run_decompositions().graph.nodes) > 0)
