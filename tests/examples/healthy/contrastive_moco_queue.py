import torch
from torch import nn
torch.manual_seed(0)
q_net, k_net = nn.Linear(3, 2), nn.Linear(3, 2)
k_net.load_state_dict(q_net.state_dict())
k_net.requires_grad_(False)
queue = torch.nn.functional.normalize(torch.randn(4, 2), dim=1)
opt = torch.optim.SGD(q_net.parameters(), lr=0.1)
ptr = 0
for _ in range(2):
    x = torch.randn(2, 3)
    q = torch.nn.functional.normalize(q_net(x), dim=1)
    with torch.no_grad():
        k = torch.nn.functional.normalize(k_net(x), dim=1)
    logits = torch.cat([(q * k).sum(1, keepdim=True), q @ queue.clone().t()], 1)
    loss = nn.functional.cross_entropy(logits, torch.zeros(2, dtype=torch.long))
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        queue[ptr:ptr + 2] = k
    ptr = (ptr + 2) % 4
