import torch
from torch import nn
torch.manual_seed(0)
logits = nn.Parameter(torch.zeros(3))
value = torch.tensor([1.0, 2.0, 4.0])
opt = torch.optim.SGD([logits], lr=0.1)
for _ in range(3):
    choice = nn.functional.gumbel_softmax(logits, tau=0.5, hard=True)
    loss = -(choice * value).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
