# advantage_with_history at 16: td_error, critic.2.bias
import torch
from torch import nn

torch.manual_seed(0)
actor = nn.Linear(3, 1)
critic = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-2)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-2)
for step in range(3):
    state, after, reward = torch.randn(5, 3), torch.randn(5, 3), torch.randn(5, 1)
    policy = torch.distributions.Normal(actor(state), 0.5)
    action = policy.sample()
    with torch.no_grad(): bootstrap = reward + 0.9 * critic(after)
    td_error = bootstrap - critic(state)
    actor_loss = -(td_error * policy.log_prob(action)).mean()
    critic_loss = td_error.pow(2).mean()
    actor_optimizer.zero_grad()
    critic_optimizer.zero_grad()
    (actor_loss + critic_loss).backward()
    actor_optimizer.step()
    critic_optimizer.step()
