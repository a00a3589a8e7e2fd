import torch
from torch import nn

torch.manual_seed(0)
net, critic = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3)), nn.Linear(4, 1)
optimizer = torch.optim.Adam([*net.parameters(), *critic.parameters()], lr=1e-3)
for step in range(3):
    x, y = torch.randn(6, 4), torch.randn(6, 4)
    a, b = net(x), net(y)
    aa, bb = (a * a).sum(1, keepdim=True), (b * b).sum(1)
    kernel = (-(aa + bb - 2 * a @ b.t())).exp()
    cosine = (a @ b.t()) / (aa.sqrt() * bb.sqrt())
    scores = critic(x)
    margin = (1 - (scores - scores.t())).clamp(min=0).triu(1).mean()
    ranks = torch.sigmoid(scores - critic(y).squeeze(1)).sum(1)
    pairs = (critic(y).squeeze(1).unsqueeze(1) - torch.arange(6.0)).abs().mean()
    loss = kernel.mean() + cosine.diagonal().mean() + margin + ranks.mean() + 0.1 * pairs
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), (scores.argmax() == torch.tensor(2)).item())
