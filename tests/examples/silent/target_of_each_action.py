# shape_mismatch at 13: `values`, `target`
import torch
import torch.nn.functional as F

torch.manual_seed(0)
critic = torch.nn.Linear(4, 1)
opt = torch.optim.SGD(critic.parameters(), lr=0.1)
states, rewards = torch.randn(8, 4), torch.randn(8, 1)
log_prob = torch.distributions.Normal(torch.zeros(8, 3), 1.0).log_prob(torch.randn(8, 3))
target = rewards - 0.2 * log_prob
for _ in range(3):
    values = critic(states)
    loss = F.mse_loss(values, target)
    opt.zero_grad()
    loss.backward()
    opt.step()
