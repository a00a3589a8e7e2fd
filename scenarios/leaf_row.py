import torch

w = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
h = w.clone()

h[0] = 0.0
h.sum().backward()
print(w.grad)

w[0] = 0.0
