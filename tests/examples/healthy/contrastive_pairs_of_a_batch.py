import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
image, text = nn.Linear(6, 4), nn.Linear(5, 4)
scale = nn.Parameter(torch.tensor(2.0))
optimizer = torch.optim.Adam([*image.parameters(), *text.parameters(), scale], lr=1e-2)
pictures, words = torch.randn(7, 6), torch.randn(7, 5)
for step in range(3):
    a, b = F.normalize(image(pictures), dim=1), F.normalize(text(words), dim=1)
    scores = scale.exp() * a @ b.t()
    truth = torch.arange(7)
    loss = (F.cross_entropy(scores, truth) + F.cross_entropy(scores.t(), truth)) / 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
