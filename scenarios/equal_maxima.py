import torch

x = torch.tensor([4.0, 1.0, 4.0], requires_grad=True)

(shared,) = torch.autograd.grad(x.amax(), x)
(single,) = torch.autograd.grad(x.max(dim=0).values, x)
print(shared)
print(single)
divided = shared.tolist() == [0.5, 0.0, 0.5] and sorted(single.tolist()) == [0.0, 0.0, 1.0]
