import torch
from torch import nn

torch.manual_seed(0)
actor, critic, log_alpha = nn.Linear(4, 3), nn.Linear(4, 1), torch.zeros((), requires_grad=True)
mean = nn.Linear(4, 2)
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters(), *mean.parameters(), log_alpha], lr=1e-2)
head = nn.Linear(3, 1)
for step in range(3):
    states, rewards = torch.randn(6, 4), torch.randn(6)
    policy = torch.distributions.Categorical(logits=actor(states))
    actions = policy.sample()
    log_prob, value = policy.log_prob(actions), critic(states).squeeze(1)
    advantage = rewards - value
    policy_loss = -(log_prob * advantage.detach()).mean() - 0.01 * policy.entropy().mean()
    ratio = (log_prob - log_prob.detach()).exp()
    clipped = -torch.min(ratio * advantage.detach(), ratio.clamp(0.8, 1.2) * advantage.detach()).mean()
    gaussian = torch.distributions.Normal(mean(states), 1.0)
    pathwise = gaussian.rsample()
    soft = (log_alpha.exp().detach() * gaussian.log_prob(pathwise) * pathwise.tanh()).mean()
    alpha_loss = -(log_alpha * (log_prob.detach() + 1)).mean()
    noisy = (value * torch.bernoulli(torch.full((6,), 0.5))).mean()
    loss = policy_loss + clipped + advantage.pow(2).mean() + soft + alpha_loss + 0.1 * noisy
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
