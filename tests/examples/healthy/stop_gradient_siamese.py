import torch
from torch import nn

torch.manual_seed(0)
encoder, predictor = nn.Linear(3, 4), nn.Linear(4, 4)
optimizer = torch.optim.SGD([*encoder.parameters(), *predictor.parameters()], lr=0.05)
for _ in range(2):
    z1, z2 = encoder(torch.randn(5, 3)), encoder(torch.randn(5, 3))
    p1, p2 = predictor(z1), predictor(z2)
    loss = -(nn.functional.cosine_similarity(p1, z2.detach()) + nn.functional.cosine_similarity(p2, z1.detach())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
