# nonfinite at 16: `gaps`
import torch
from torch import nn

torch.manual_seed(0)

rater = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 2))
opt = torch.optim.SGD(rater.parameters(), lr=0.1)
films, marks = torch.randn(10, 4), torch.randn(10, 2)
marks[3, 0] = marks[7, 1] = torch.nan
known = ~marks.isnan()
for _ in range(2):
    guesses = rater(films)
    gaps = (guesses - marks).pow(2)
    opt.zero_grad()
    loss = torch.where(known, gaps, 0.0).sum() / known.sum()
    loss.backward()
    opt.step()
