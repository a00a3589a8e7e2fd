import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net, log_vars = nn.Linear(6, 4), nn.Parameter(torch.zeros(2))
optimizer = torch.optim.Adam([*net.parameters(), log_vars], lr=1e-2)
for step in range(3):
    x, labels = torch.randn(8, 6), torch.randint(0, 4, (8,))
    scores = net(x)
    each = F.cross_entropy(scores, labels, reduction="none")
    focal = ((1 - torch.exp(-each)) ** 2 * each).mean()
    mean = F.cross_entropy(scores, labels)
    spread = scores.pow(2).mean()
    uncertain = torch.exp(-log_vars[0]) * mean + log_vars[0] + torch.exp(-log_vars[1]) * spread + log_vars[1]
    flooded = (mean - 0.1).abs() + 0.1
    balanced = mean / mean.detach() + spread / spread.detach()
    perplexity = torch.exp(mean.detach())
    loss = focal + uncertain + flooded + balanced + 0.5 * torch.exp(-mean.detach()) * mean
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), perplexity.item())
