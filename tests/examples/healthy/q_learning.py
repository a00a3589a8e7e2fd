import torch
from torch import nn

torch.manual_seed(0)
q, target = nn.Linear(3, 2), nn.Linear(3, 2)
target.load_state_dict(q.state_dict())
optimizer = torch.optim.Adam(q.parameters())
for step in range(3):
    state, action, reward = torch.randn(4, 3), torch.randint(0, 2, (4, 1)), torch.randn(4)
    with torch.no_grad():
        goal = reward + 0.9 * target(torch.randn(4, 3)).max(1).values
    loss = nn.functional.smooth_l1_loss(q(state).gather(1, action).squeeze(1), goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step == 1:
        target.load_state_dict(q.state_dict())
