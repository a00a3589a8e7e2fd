# loss_times_mask at 13: `weights`
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
q_net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(q_net.parameters())
state, action, target = torch.randn(8, 4), torch.randint(0, 2, (8, 1)), torch.randn(8)
weights = torch.rand(8)
for step in range(3):
    q = q_net(state).gather(1, action).squeeze(1)
    loss = (weights * F.mse_loss(q, target)).mean()

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
