# grad_none at 12: router.weight.grad, argmax
import torch
from torch import nn
torch.manual_seed(0)
router = nn.Linear(3, 2)
experts = nn.ModuleList([nn.Linear(3, 1), nn.Linear(3, 1)])
optimizer = torch.optim.SGD([*router.parameters(), *experts.parameters()], lr=0.1)
x, y = torch.randn(8, 3), torch.randn(8, 1)
for _ in range(3):
    outputs = torch.stack([expert(x) for expert in experts], dim=1)
    scores = router(x)
    choice = scores.argmax(dim=1)
    picked = outputs[torch.arange(8), choice]
    loss = (picked - y).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
