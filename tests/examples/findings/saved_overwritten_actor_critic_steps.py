# saved_overwritten: actor_opt
import torch
from torch import nn
torch.manual_seed(0)
body = nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 8))
actor, critic = nn.Linear(8, 2), nn.Sequential(nn.Linear(8, 4), nn.Tanh(), nn.Linear(4, 1))
actor_opt = torch.optim.Adam(list(body.parameters()) + list(actor.parameters()), lr=1e-2)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-2)
state = torch.randn(5, 3)
feat = torch.tanh(body(state))
value = critic(feat)
adv = torch.ones(5) - value.squeeze(1)
actor_loss = -(torch.log_softmax(actor(feat), 1)[:, 0] * adv.detach()).mean()
critic_loss = adv.pow(2).mean()
actor_opt.zero_grad()
actor_loss.backward(retain_graph=True)
actor_opt.step()  # cause
critic_opt.zero_grad()
critic_loss.backward()
critic_opt.step()
