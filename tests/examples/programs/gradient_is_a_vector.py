# backward of a vector wants one; a whole basis at once gives the Jacobian.
import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * x
y.backward(torch.tensor([1.0, 0.5]))
print(x.grad)
print(torch.autograd.grad(x * 4, x, torch.eye(2), is_grads_batched=True))
