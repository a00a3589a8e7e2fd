import torch
import numpy as np

from torch import fx
def f(x, y):
    return torch.add(x, y).relu() + torch.neg(x)
traced = fx.symbolic_trace(f)
for node in traced.graph.nodes:
    if node.op == "call_function" and node.target is torch.add:
        node.target = torch.mul
traced.graph.lint()
traced.recompile()
print(traced.code, traced(torch.ones(2), torch.full((2,), 3.0)))
class Shapes(fx.Interpreter):
    def run_node(self, n):
        result = super().run_node(n)
        print(n.name, tuple(getattr(result, "shape", ())))
        return result
Shapes(traced).run(torch.ones(2), torch.ones(2))
from torch.fx.passes.shape_prop import ShapeProp
ShapeProp(traced).propagate(torch.ones(2), torch.ones(2))
print([n.meta["tensor_meta"].shape for n in traced.graph.nodes if "tensor_meta" in n.meta])
