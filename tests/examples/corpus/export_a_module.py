"""torch.export: an ExportedProgram, its graph, running it, training its module."""
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x, y):
        return torch.relu(self.linear(x)) + y


torch.manual_seed(0)
model = Model()
example = (torch.randn(2, 3), torch.ones(2))
exported = torch.export.export(model, example)
print([str(node.target) for node in exported.graph.nodes if node.op == "call_function"])
module = exported.module()
print(torch.allclose(module(*example), model(*example)))
print(exported.graph_signature.parameters, [tuple(v.shape) for v in exported.state_dict.values()])
module(*example).sum().backward()
print([tuple(p.grad.shape) for p in module.parameters()])
