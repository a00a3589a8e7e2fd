"""A Gaussian mixture by EM and by gradient descent."""
import torch
from torch.distributions import Categorical, MixtureSameFamily, Normal

torch.manual_seed(0)
x = torch.cat([torch.randn(20) * 0.5 - 2, torch.randn(30) + 3])
mu, sigma, weight = torch.tensor([-1.0, 1.0]), torch.ones(2), torch.full((2,), 0.5)
for step in range(5):
    log_r = weight.log() + Normal(mu, sigma).log_prob(x[:, None])
    r = torch.softmax(log_r, 1)
    n = r.sum(0)
    mu = (r * x[:, None]).sum(0) / n
    sigma = ((r * (x[:, None] - mu) ** 2).sum(0) / n).sqrt()
    weight = n / len(x)
    print(step, f"{torch.logsumexp(log_r, 1).mean().item():.4f}")
print(mu, sigma, weight)
m = torch.tensor([-1.0, 1.0], requires_grad=True)
logits = torch.zeros(2, requires_grad=True)
opt = torch.optim.Adam([m, logits], lr=0.3)
for step in range(5):
    loss = -MixtureSameFamily(Categorical(logits=logits), Normal(m, torch.ones(2))).log_prob(x).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.4f}", m.detach(), torch.softmax(logits, 0).detach())
