import torch
from torch import nn

torch.manual_seed(12)
words = torch.tensor([1, 2, 0, 3, 3, 0])
offsets = torch.tensor([0, 3])
bag = nn.EmbeddingBag(5, 3, mode="mean", padding_idx=0)
lookup = nn.Embedding(5, 3, padding_idx=0, sparse=True)
head = nn.Linear(6, 2)
opt = torch.optim.SGD([{"params": bag.parameters()}, {"params": head.parameters(), "lr": 0.5}], lr=0.1)
sparse = torch.optim.SparseAdam(lookup.parameters(), lr=0.1)
label = torch.tensor([1, 0])
for epoch in range(2):
    a = bag(words, offsets)
    b = lookup(words.view(2, 3)).sum(1)
    both = torch.cat((a, b), 1)
    loss = nn.functional.nll_loss(head(both).log_softmax(1), label)
    opt.zero_grad()
    sparse.zero_grad()
    loss.backward()
    opt.step()
    sparse.step()
