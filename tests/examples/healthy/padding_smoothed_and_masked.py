"""A smoothed loss and one without gradients that ignore padding, a masked mean that is corrected for its length."""

import torch
from torch import nn

torch.manual_seed(0)
embed, cell = nn.Embedding(20, 8, padding_idx=0), nn.GRU(8, 8, batch_first=True)
words, topic = nn.Linear(8, 20), nn.Linear(8, 2)
smoothed, plain = nn.CrossEntropyLoss(ignore_index=0, label_smoothing=0.1), nn.CrossEntropyLoss(ignore_index=0)
opt = torch.optim.Adam([*embed.parameters(), *cell.parameters(), *words.parameters(), *topic.parameters()], lr=1e-2)
tokens = torch.tensor([[4, 9, 2, 7, 5], [3, 8, 6, 0, 0], [1, 2, 0, 0, 0]])
topics = torch.tensor([0, 1, 1])
for _ in range(2):
    states, _ = cell(embed(tokens[:, :-1]))
    kept = (tokens != 0).float()[..., None]
    pooled = (embed(tokens) * kept).mean(1) / kept.mean(1)
    loss = smoothed(words(states).flatten(0, 1), tokens[:, 1:].flatten())
    loss = loss + nn.functional.cross_entropy(topic(pooled), topics)
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        states, _ = cell(embed(tokens[:, :-1]))
        print(plain(words(states).flatten(0, 1), tokens[:, 1:].flatten()).item())
