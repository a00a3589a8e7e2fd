# zero_gradient at 4: x
import torch
x = torch.tensor([-1., -2.], requires_grad=True)
torch.relu(x).sum().backward()
print(x.grad)
