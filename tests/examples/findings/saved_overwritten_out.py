# saved_overwritten: buf
import torch
a = torch.tensor([1.0, 2.0], requires_grad=True)
buf = torch.ones(2)
y = a * buf
torch.add(torch.ones(2), 5, out=buf)  # cause
y.sum().backward()
