import torch
from torch import nn
torch.manual_seed(0)
q, target = nn.Linear(3, 2), nn.Linear(3, 2)
target.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), lr=0.01)
memory = [(torch.randn(3), i % 2, float(i), torch.randn(3)) for i in range(4)]
for step in range(3):
    s = torch.stack([m[0] for m in memory])
    a = torch.tensor([m[1] for m in memory])
    r = torch.tensor([m[2] for m in memory])
    s2 = torch.stack([m[3] for m in memory])
    with torch.no_grad():
        goal = r + 0.9 * target(s2).max(1).values
    value = q(s).gather(1, a.unsqueeze(1)).squeeze(1)
    loss = nn.functional.smooth_l1_loss(value, goal)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 2 == 1:
        target.load_state_dict(q.state_dict())
