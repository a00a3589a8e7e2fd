import torch
from torch import nn
torch.manual_seed(0)
trunk, a, b = nn.Linear(2, 4), nn.Linear(4, 1), nn.Linear(4, 3)
log_var = nn.Parameter(torch.zeros(2))
opt = torch.optim.Adam([*trunk.parameters(), *a.parameters(), *b.parameters(), log_var], lr=0.01)
x, ya, yb = torch.randn(5, 2), torch.randn(5, 1), torch.randint(0, 3, (5,))
for _ in range(2):
    h = torch.relu(trunk(x))
    losses = torch.stack([nn.functional.mse_loss(a(h), ya), nn.functional.cross_entropy(b(h), yb)])
    loss = (torch.exp(-log_var) * losses + log_var).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    history = losses.detach().tolist()
