import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

qkv, proj, fc, inp = nn.Linear(8, 24), nn.Linear(8, 8), nn.Linear(8, 2), nn.Linear(3, 8)
optimizer = torch.optim.Adam([p for m in (qkv, proj, fc, inp) for p in m.parameters()])
x, y = torch.randn(2, 8, 8, 3), torch.tensor([0, 1])
def windows(x, w):
    B, H, W, C = x.shape
    return x.view(B, H // w, w, W // w, w, C).permute(0, 1, 3, 2, 4, 5).reshape(-1, w * w, C)
def back(z, w, H, W):
    B = z.shape[0] // (H * W // w // w)
    return z.view(B, H // w, W // w, w, w, -1).permute(0, 1, 3, 2, 4, 5).reshape(B, H, W, -1)
for step in range(2):
    z = inp(x)
    win = windows(z, 4)
    n, L, C = win.shape
    q, k, v = qkv(win).reshape(n, L, 3, 2, 4).permute(2, 0, 3, 1, 4)
    a = (q @ k.transpose(-2, -1) / 2).softmax(-1)
    o = proj((a @ v).transpose(1, 2).reshape(n, L, C))
    z = z + back(o, 4, 8, 8)
    loss = F.cross_entropy(fc(z.flatten(1, 2).mean(1)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
