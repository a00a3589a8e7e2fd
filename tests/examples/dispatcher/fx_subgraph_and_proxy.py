import torch
import numpy as np

from torch.fx import subgraph_rewriter
def pattern(x, y):
    return torch.cat([x, y]).sum()
def replacement(x, y):
    return torch.stack([x, y])
class M(torch.nn.Module):
    def forward(self, a, b):
        return torch.cat([a, b]).sum() + a.mean()
traced = torch.fx.symbolic_trace(M())
print(len(subgraph_rewriter.replace_pattern(traced, pattern, replacement)), traced.code)
print(traced(torch.ones(2), torch.ones(2)))
