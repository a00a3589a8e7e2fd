import torch
from torch import nn
torch.manual_seed(0)
embed, cell, head = nn.Embedding(6, 4), nn.GRUCell(4, 4), nn.Linear(4, 6)
opt = torch.optim.Adam([*embed.parameters(), *cell.parameters(), *head.parameters()], lr=0.01)
target = torch.tensor([1, 3, 2, 5])
for _ in range(2):
    h, token, loss = torch.zeros(1, 4), torch.tensor([0]), 0.0
    for t in range(4):
        h = cell(embed(token), h)
        logits = head(h)
        loss = loss + nn.functional.cross_entropy(logits, target[t:t + 1])
        token = target[t:t + 1] if t % 2 else logits.argmax(1)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item())
