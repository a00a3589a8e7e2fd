# The second backward finds what was saved freed.
import torch
x = torch.ones(2, requires_grad=True)
loss = (x * x).sum()
loss.backward()
print(x.grad)
loss.backward()
