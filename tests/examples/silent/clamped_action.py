# zero_gradient at 4: mu
import torch
mu = torch.tensor([3.0, -4.0], requires_grad=True)
action = mu.clamp(-1, 1)
loss = (action ** 2).sum()
loss.backward()
print(mu.grad)
