import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 6), nn.GELU(), nn.Linear(6, 1)).cuda()
optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
scaler = torch.amp.GradScaler("cuda", init_scale=256.0)
x = torch.randn(5, 6, device="cuda")
for _ in range(3):
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = net(x).float().square().mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    print(round(loss.item(), 3), scaler.get_scale(), net[0].weight.grad.dtype)
