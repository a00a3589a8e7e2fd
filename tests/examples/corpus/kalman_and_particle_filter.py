"""Filtering in state-space models: Kalman, its likelihood by autograd, and particles."""

import torch
from torch.distributions import MultivariateNormal, Normal

torch.manual_seed(0)
dt = 1.0
F = torch.tensor([[1.0, dt], [0.0, 1.0]])
H = torch.tensor([[1.0, 0.0]])
Q = 0.05 * torch.tensor([[dt**3 / 3, dt**2 / 2], [dt**2 / 2, dt]])
R = torch.tensor([[0.5]])

x, states, observations = torch.tensor([0.0, 1.0]), [], []
process = MultivariateNormal(torch.zeros(2), Q)
for _ in range(10):
    x = F @ x + process.sample()
    states.append(x)
    observations.append(H @ x + R.sqrt() @ torch.randn(1))
states, observations = torch.stack(states), torch.stack(observations)


def kalman(observations, F, H, Q, R):
    mean, cov = torch.zeros(2), torch.eye(2)
    log_likelihood, means = torch.zeros(()), []
    for z in observations:
        mean, cov = F @ mean, F @ cov @ F.T + Q
        S = H @ cov @ H.T + R
        K = torch.linalg.solve(S, H @ cov).T
        innovation = z - H @ mean
        log_likelihood = log_likelihood + MultivariateNormal(torch.zeros(1), S).log_prob(innovation)
        mean = mean + K @ innovation
        identity = torch.eye(2)
        cov = (identity - K @ H) @ cov @ (identity - K @ H).T + K @ R @ K.T
        means.append(mean)
    return torch.stack(means), cov, log_likelihood


means, cov, ll = kalman(observations, F, H, Q, R)
print(f"raw error {(observations - states[:, :1]).pow(2).mean():.4f}, filtered {(means[:, 0] - states[:, 0]).pow(2).mean():.4f}")
print(cov, ll)

log_r = torch.zeros((), requires_grad=True)
log_q = torch.tensor(-3.0, requires_grad=True)
optimizer = torch.optim.Adam([log_r, log_q], lr=0.2)
for step in range(4):
    optimizer.zero_grad()
    _, _, ll = kalman(observations, F, H, log_q.exp() * torch.eye(2), log_r.exp().view(1, 1))
    (-ll).backward()
    optimizer.step()
    print(f"{step}: {ll.item():.4f} r {log_r.exp().item():.3f} q {log_q.exp().item():.4f}")


def systematic_resample(weights):
    n = len(weights)
    positions = (torch.arange(n) + torch.rand(())) / n
    return torch.searchsorted(weights.cumsum(0), positions).clamp(max=n - 1)


particles = torch.randn(50, 2)
weights = torch.full((50,), 1 / 50)
estimates, resampled = [], 0
for z in observations:
    particles = particles @ F.T + process.sample((50,))
    log_weights = weights.log() + Normal(particles[:, 0], R.sqrt().item()).log_prob(z)
    weights = torch.softmax(log_weights, 0)
    estimates.append(weights @ particles)
    if 1 / weights.pow(2).sum() < 25:
        particles = particles[systematic_resample(weights)]
        weights = torch.full((50,), 1 / 50)
        resampled += 1
estimates = torch.stack(estimates)
print(f"particles: {(estimates[:, 0] - states[:, 0]).pow(2).mean():.4f}, resampled {resampled} times")
