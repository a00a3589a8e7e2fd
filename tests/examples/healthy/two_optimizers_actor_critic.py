import torch
from torch import nn

torch.manual_seed(0)

actor, critic = nn.Linear(3, 2), nn.Linear(3, 1)
step_actor = torch.optim.Adam(actor.parameters(), lr=1e-3)
step_critic = torch.optim.Adam(critic.parameters(), lr=1e-3)
for _ in range(3):
    state = torch.randn(4, 3)
    dist = torch.distributions.Categorical(logits=actor(state))
    action = dist.sample()
    reward = (action == 0).float()
    value = critic(state).squeeze(1)
    advantage = reward - value
    critic_loss = advantage.pow(2).mean()
    actor_loss = -(dist.log_prob(action) * advantage.detach()).mean()
    step_critic.zero_grad()
    critic_loss.backward()
    step_critic.step()
    step_actor.zero_grad()
    actor_loss.backward()
    step_actor.step()
