import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
q = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
q_target = copy.deepcopy(q)
optimizer = torch.optim.Adam(q.parameters(), lr=1e-2)
memory = [(torch.randn(4), torch.randint(0, 2, ()), torch.rand(()), torch.randn(4)) for _ in range(12)]
for step in range(6):
    states, actions, rewards, nexts = map(torch.stack, zip(*[memory[k] for k in torch.randint(0, 12, (5,))]))
    with torch.no_grad():
        best = q(nexts).argmax(1, keepdim=True)
        target = rewards + 0.95 * q_target(nexts).gather(1, best).squeeze(1)
    value = q(states).gather(1, actions[:, None]).squeeze(1)
    loss = F.smooth_l1_loss(value, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 3 == 2:
        q_target.load_state_dict(q.state_dict())
