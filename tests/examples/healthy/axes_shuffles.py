import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

c1, c2, up, head = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1, groups=4), nn.Conv2d(8, 12, 3, padding=1), nn.Linear(3 * 8 * 8, 2)
gn = nn.GroupNorm(4, 8)
optimizer = torch.optim.Adam([p for m in (c1, c2, up, head, gn) for p in m.parameters()])
x, y = torch.randn(4, 3, 4, 4), torch.randint(0, 2, (4,))
def channel_shuffle(x, groups):
    b, c, h, w = x.shape
    return x.view(b, groups, c // groups, h, w).transpose(1, 2).contiguous().view(b, c, h, w)
def own_group_norm(x, groups):
    b, c, h, w = x.shape
    z = x.view(b, groups, -1)
    z = (z - z.mean(-1, keepdim=True)) / (z.std(-1, keepdim=True) + 1e-5)
    return z.view(b, c, h, w)
def own_pixel_shuffle(x, r):
    b, c, h, w = x.shape
    return x.view(b, c // r ** 2, r, r, h, w).permute(0, 1, 4, 2, 5, 3).reshape(b, c // r ** 2, h * r, w * r)
for step in range(2):
    z = gn(channel_shuffle(c2(F.relu(c1(x))), 4))
    z = own_pixel_shuffle(up(own_group_norm(z, 2)), 2)
    loss = F.cross_entropy(head(z.flatten(1)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
