import torch
w = torch.tensor([1., 2.], requires_grad=True)
for k in range(2):
    (w * k).sum().backward()
print(w.grad)
