# detach_ of a result: a graph that did not save it still runs; a view can't be detached so.
import torch
x = torch.ones(2, requires_grad=True)
m = x * 2
y = m * 4
m.detach_()
y.sum().backward()
print(x.grad, m, m.is_leaf)
part = (x * 2)[:1]
try:
    part.detach_()
except RuntimeError as error:
    print(str(error).split(".")[0])
