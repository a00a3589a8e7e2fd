"""Distributions: sampling, log_prob, rsample gradients, KL, transforms, mixtures."""
import torch
from torch import distributions as D

torch.manual_seed(0)
normal = D.Normal(torch.tensor([0.0, 1.0]), torch.tensor([1.0, 2.0]))
print(normal.sample((2,)), normal.log_prob(torch.tensor([0.0, 1.0])), normal.entropy())
mu = torch.tensor(0.5, requires_grad=True)
sigma = torch.tensor(1.0, requires_grad=True)
q = D.Normal(mu, sigma)
z = q.rsample((4,))
(z ** 2).mean().backward()
print(mu.grad is not None, sigma.grad is not None, q.sample().requires_grad)
print(D.kl_divergence(D.Normal(0.0, 1.0), D.Normal(1.0, 2.0)))
cat = D.Categorical(probs=torch.tensor([0.2, 0.3, 0.5]))
print(cat.sample((5,)), cat.entropy(), cat.log_prob(torch.tensor(2)))
print(D.Bernoulli(0.3).sample((4,)), D.Beta(2.0, 3.0).mean, D.Gamma(2.0, 1.0).variance, D.Poisson(3.0).sample())
mvn = D.MultivariateNormal(torch.zeros(2), torch.tensor([[2.0, 0.5], [0.5, 1.0]]))
print(mvn.log_prob(torch.zeros(2)), mvn.rsample().shape)
mix = D.MixtureSameFamily(D.Categorical(torch.ones(2)), D.Normal(torch.tensor([-1.0, 1.0]), torch.ones(2)))
print(mix.log_prob(torch.tensor(0.0)), mix.mean)
lognormal = D.TransformedDistribution(D.Normal(0.0, 1.0), [D.transforms.ExpTransform()])
print(lognormal.log_prob(torch.tensor(1.0)), D.LogNormal(0.0, 1.0).log_prob(torch.tensor(1.0)))
ind = D.Independent(D.Normal(torch.zeros(3), torch.ones(3)), 1)
print(ind.batch_shape, ind.event_shape, ind.log_prob(torch.zeros(3)))
gumbel = torch.nn.functional.gumbel_softmax(torch.tensor([[1.0, 2.0, 0.5]]), tau=0.5, hard=True)
print(gumbel.sum())
data = torch.randn(50) * 2 + 1
loc, log_scale = torch.zeros((), requires_grad=True), torch.zeros((), requires_grad=True)
opt = torch.optim.Adam([loc, log_scale], lr=0.2)
for step in range(10):
    opt.zero_grad()
    nll = -D.Normal(loc, log_scale.exp()).log_prob(data).mean()
    nll.backward()
    opt.step()
print(f"{nll.item():.4f} {loc.item():.3f} {log_scale.exp().item():.3f}")
try:
    D.Normal(0.0, -1.0)
except ValueError as error:
    print(str(error)[:40])
