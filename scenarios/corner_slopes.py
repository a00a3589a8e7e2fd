import torch

x = torch.tensor([-2.0, 0.0, 2.0], requires_grad=True)

torch.relu(x).sum().backward()
bent = x.grad
x.grad = None
x.abs().sum().backward()

print(bent)
print(x.grad)
flat = bent[1].item() == 0.0 and x.grad[1].item() == 0.0
