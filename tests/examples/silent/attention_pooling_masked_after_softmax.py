# attention_weights at 17: `alpha`, `mask`
import torch
from torch import nn

torch.manual_seed(3)
gru = nn.GRU(3, 5, batch_first=True)
score = nn.Linear(5, 1)
clf = nn.Linear(5, 2)
optimizer = torch.optim.Adam([*gru.parameters(), *score.parameters(), *clf.parameters()], lr=1e-2)
seq, target = torch.randn(4, 6, 3), torch.tensor([0, 1, 1, 0])
mask = torch.ones(4, 6)
mask[1, 3:] = 0
mask[3, 5:] = 0
for step in range(3):
    h, _ = gru(seq)
    alpha = torch.softmax(score(h), dim=1)
    alpha = alpha * mask.unsqueeze(-1)
    pooled = (alpha * h).sum(dim=1)
    loss = nn.functional.cross_entropy(clf(pooled), target)

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
