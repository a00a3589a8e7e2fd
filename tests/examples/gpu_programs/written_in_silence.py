import torch
x = torch.tensor([0.5, 1.5], device="cuda", requires_grad=True)
y = x.tanh()
y.data.zero_()
y.sum().backward()
print(x.grad)
