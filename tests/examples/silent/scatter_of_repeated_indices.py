# index_copy at 5: out, src
import torch
src = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
index = torch.tensor([0, 2, 2])
out = torch.zeros(3).scatter(0, index, src)
out.pow(2).sum().backward()
print(src.grad)
