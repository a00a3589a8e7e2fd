# graph_grows at 13: total_loss
import torch
from torch import nn
model = nn.Linear(2, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
def train(batches):
    total_loss = 0
    for x in batches:
        loss = model(x).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        total_loss += loss
    return total_loss / len(batches)
print(train(torch.ones(4, 3, 2)))
