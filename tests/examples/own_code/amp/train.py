import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 2)
optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
for _ in range(2):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = net(torch.ones(3, 4))
        loss = out.float().square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
print(out.dtype, net.weight.dtype)
