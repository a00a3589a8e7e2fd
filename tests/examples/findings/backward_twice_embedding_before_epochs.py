# backward_twice: emb
import torch
from torch import nn
torch.manual_seed(0)
table = nn.Embedding(6, 4)
head = nn.Linear(4, 1)
opt = torch.optim.SGD(list(table.parameters()) + list(head.parameters()), lr=0.1)
words = torch.tensor([1, 3, 5])
emb = torch.tanh(table(words))  # cause
for epoch in range(2):
    opt.zero_grad()
    loss = head(emb).mean()
    loss.backward()
    opt.step()
