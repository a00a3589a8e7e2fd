import torch
from torch import nn
torch.manual_seed(0)
gru, head = nn.GRU(4, 6), nn.Linear(6, 3)
optimizer = torch.optim.SGD([*gru.parameters(), *head.parameters()], lr=0.1)
sentence, tags = torch.randn(9, 1, 4), torch.randint(0, 3, (9,))
for epoch in range(3):
    out, _ = gru(sentence)
    loss = nn.functional.cross_entropy(head(out[:, 0]), tags)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
