# no_graph: action
import torch
from torch import nn
policy = nn.Linear(3, 2)
state = torch.ones(4, 3)
action = torch.argmax(policy(state), dim=1)  # cause
reward = (action.float() - 1).pow(2)
loss = reward.mean()
loss.backward()
