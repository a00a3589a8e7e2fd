"""torch.fx: tracing a module symbolically, reading the graph, replacing an operation, an interpreter."""
import operator

import torch
import torch.fx as fx
from torch import nn


class MyModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.param = nn.Parameter(torch.ones(3, 4))
        self.linear = nn.Linear(4, 5)

    def forward(self, x):
        return self.linear(x + self.param).clamp(min=0.0, max=1.0)


torch.manual_seed(0)
module = MyModule()
symbolic_traced = fx.symbolic_trace(module)
print(symbolic_traced.graph)
print(symbolic_traced.code)
x = torch.rand(3, 4)
print(torch.equal(symbolic_traced(x), module(x)))


def transform(m, tracer_class=fx.Tracer):
    graph = tracer_class().trace(m)
    for node in graph.nodes:
        if node.op == "call_function" and node.target == operator.add:
            node.target = operator.mul
    graph.lint()
    return fx.GraphModule(m, graph)


transformed = transform(module)
print([node.name for node in transformed.graph.nodes], torch.equal(transformed(x), module.linear(x * module.param).clamp(0.0, 1.0)))


class Counter(fx.Interpreter):
    def __init__(self, module):
        super().__init__(module)
        self.ops = []

    def run_node(self, n):
        self.ops.append(n.op)
        return super().run_node(n)


counter = Counter(symbolic_traced)
counter.run(x)
print(counter.ops)
fx.replace_pattern(symbolic_traced, lambda a, b: torch.add(a, b), lambda a, b: torch.mul(a, b))
symbolic_traced.recompile()
symbolic_traced(x).sum().backward()
print(module.linear.weight.grad is not None)
