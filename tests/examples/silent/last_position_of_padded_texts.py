# padding_takes_part at 16: padding
import torch
from torch import nn

torch.manual_seed(0)
embed = nn.Embedding(30, 8, padding_idx=0)
reader = nn.LSTM(8, 12)
out = nn.Linear(12, 2)
opt = torch.optim.Adam([*embed.parameters(), *reader.parameters(), *out.parameters()], lr=1e-2)
tokens = torch.randint(1, 30, (7, 4))
for column, length in enumerate([7, 3, 5, 2]):
    tokens[length:, column] = 0
labels = torch.tensor([0, 1, 0, 1])
for _ in range(3):
    states, _ = reader(embed(tokens))
    scores = out(states[-1])
    loss = nn.functional.cross_entropy(scores, labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
