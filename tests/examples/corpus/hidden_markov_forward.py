"""A hidden Markov model: forward, backward, gradients of the likelihood are posteriors."""
import torch

torch.manual_seed(0)
A = torch.softmax(torch.randn(3, 3), 1)
B = torch.softmax(torch.randn(3, 4), 1)
pi = torch.tensor([0.5, 0.3, 0.2])
obs = torch.tensor([0, 2, 1, 3, 0])
log_emissions = B.log()[:, obs].T.clone().requires_grad_()
alpha = pi.log() + log_emissions[0]
for t in range(1, len(obs)):
    alpha = torch.logsumexp(alpha[:, None] + A.log(), dim=0) + log_emissions[t]
log_likelihood = torch.logsumexp(alpha, 0)
log_likelihood.backward()
posterior = log_emissions.grad
print(f"{log_likelihood.item():.4f}", posterior.sum(1))
beta = torch.zeros(3)
betas = [beta]
for t in range(len(obs) - 1, 0, -1):
    beta = torch.logsumexp(A.log() + log_emissions.detach()[t] + beta, dim=1)
    betas.insert(0, beta)
check = pi.log() + log_emissions.detach()[0] + betas[0]
print(torch.allclose(torch.softmax(check, 0), posterior[0], atol=1e-5))
delta = pi.log() + log_emissions.detach()[0]
back = []
for t in range(1, len(obs)):
    best, arg = (delta[:, None] + A.log()).max(0)
    back.append(arg)
    delta = best + log_emissions.detach()[t]
path = [int(delta.argmax())]
for arg in reversed(back):
    path.insert(0, int(arg[path[0]]))
print(path)
