import torch

torch.manual_seed(0)
actor, critic = torch.nn.Linear(2, 3), torch.nn.Linear(2, 1)
opt = torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=0.1)
states, returns = torch.randn(4, 2), torch.rand(4)
policy = torch.distributions.Categorical(logits=actor(states))
actions = policy.sample()
advantage = returns - critic(states).squeeze(1)
loss = -(policy.log_prob(actions) * advantage).mean()
loss.backward()
opt.step()
print(critic.bias.grad)
