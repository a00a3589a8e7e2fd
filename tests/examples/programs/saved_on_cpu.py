# save_on_cpu keeps copies of what is saved.
import torch
x = torch.zeros(2, requires_grad=True)
with torch.autograd.graph.save_on_cpu():
    y = x.exp() * 4
y.sum().backward()
print(x.grad)
