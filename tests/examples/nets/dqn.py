import copy
import random
from collections import deque

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
random.seed(0)


class QNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2, self.value, self.advantage = (
            nn.Linear(4, 8),
            nn.Linear(8, 8),
            nn.Linear(8, 1),
            nn.Linear(8, 2),
        )

    def forward(self, s):
        h = F.relu(self.fc2(F.relu(self.fc1(s))))
        a = self.advantage(h)
        return self.value(h) + a - a.mean(dim=1, keepdim=True)


policy = QNet()
target = copy.deepcopy(policy)
memory = deque(maxlen=50)
opt = torch.optim.RMSprop(policy.parameters())


def optimize():
    s, a, r, n = map(torch.stack, zip(*random.sample(list(memory), 4)))
    q = policy(s).gather(1, a.unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        best = target(n).max(1).values
    loss = F.smooth_l1_loss(q, r + 0.99 * best)
    opt.zero_grad()
    loss.backward()
    opt.step()


state = torch.randn(4)
for t in range(6):
    with torch.no_grad():
        action = policy(state.unsqueeze(0)).argmax(1)[0]
    following = torch.randn(4)
    memory.append((state, action, torch.rand(()), following))
    state = following
    if len(memory) >= 4:
        optimize()
