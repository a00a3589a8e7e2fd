# zero_gradient at 7: mean
import torch
from torch.distributions import Normal
torch.manual_seed(0)
mean = torch.zeros(3, requires_grad=True)
policy = Normal(mean, torch.ones(3))
loss = -policy.log_prob(policy.rsample()).sum()
loss.backward()
print(mean.grad)
