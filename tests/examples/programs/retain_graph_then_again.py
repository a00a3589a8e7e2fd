# Two backwards over one graph that was kept, values and saved results still there.
import torch
x = torch.zeros(2, requires_grad=True)
loss = (x.exp() * (x + 2)).sum()
loss.backward(retain_graph=True)
print(x.grad)
loss.backward()
print(x.grad)
