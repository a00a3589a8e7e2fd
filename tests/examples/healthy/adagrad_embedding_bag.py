import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.EmbeddingBag(20, 4, mode="mean"), nn.Linear(4, 2))
opt = torch.optim.Adagrad(model.parameters(), lr=0.1)
docs = torch.randint(0, 20, (6, 5))
labels = torch.tensor([0, 1, 0, 1, 1, 0])
for epoch in range(3):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(model(docs), labels)
    loss.backward()
    opt.step()
    print(f"{epoch}: {loss.item():.3f}")
