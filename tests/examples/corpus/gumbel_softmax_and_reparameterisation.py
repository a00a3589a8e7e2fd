"""Gradients through random choices: the score function, the pathwise gradient, Gumbel-softmax and REBAR-like baselines."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Bernoulli, Beta, Categorical, Dirichlet, Gamma, Normal, kl_divergence

torch.manual_seed(0)


def objective(x):
    return (x - 2.0) ** 2


mu = torch.tensor(0.5, requires_grad=True)
N = 64
samples = Normal(mu, 1.0).rsample((N,))
(pathwise,) = torch.autograd.grad(objective(samples).mean(), mu)
dist = Normal(mu, 1.0)
samples = dist.sample((N,))
reward = objective(samples)
(score,) = torch.autograd.grad((dist.log_prob(samples) * reward).mean(), mu, retain_graph=True)
(baselined,) = torch.autograd.grad((dist.log_prob(samples) * (reward - reward.mean())).mean(), mu)
print(f"exact {2 * (mu.item() - 2):.3f} pathwise {pathwise:.3f} score {score:.3f} with a baseline {baselined:.3f}")

logits = torch.zeros(4, requires_grad=True)
values = torch.tensor([0.1, 0.9, 0.4, 0.2])
for temperature in (5.0, 1.0, 0.1):
    soft = F.gumbel_softmax(logits.expand(32, 4), tau=temperature)
    entropy = -(soft * (soft + 1e-9).log()).sum(-1).mean()
    (g,) = torch.autograd.grad((soft @ values).mean(), logits)
    print(f"tau {temperature}: entropy {entropy.item():.3f} grad {g}")
hard = F.gumbel_softmax(logits.expand(3, 4), tau=1.0, hard=True)
print(hard, hard.requires_grad)

optimizer = torch.optim.Adam([logits], lr=0.2)
for step in range(8):
    temperature = max(0.3, 0.8**step)
    choice = F.gumbel_softmax(logits.expand(16, 4), tau=temperature, hard=True)
    loss = -(choice @ values).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(logits.softmax(-1), Categorical(logits=logits).entropy())


class BernoulliSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, probs):
        return torch.bernoulli(probs)

    @staticmethod
    def backward(ctx, grad):
        return grad


gate = nn.Linear(3, 3)
x = torch.randn(4, 3)
mask = BernoulliSTE.apply(torch.sigmoid(gate(x)))
(mask * x).sum().backward()
print(mask, gate.weight.grad.norm())

concentration = torch.tensor([2.0, 1.0, 3.0], requires_grad=True)
Dirichlet(concentration).rsample().prod().backward()
print(concentration.grad is not None)
a, b = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)
kl = kl_divergence(Beta(a, b), Beta(torch.tensor(1.0), torch.tensor(1.0))) + kl_divergence(Gamma(a, b), Gamma(1.0, 1.0))
kl.backward()
print(kl, a.grad, b.grad)
print(Bernoulli(logits=torch.tensor([0.0, 1.0])).enumerate_support().shape)
