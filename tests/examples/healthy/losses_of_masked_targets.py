import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
inputs, labels = torch.randn(22, 3), torch.randint(0, 2, (22, 1)).float()
labels[::3] = -100.0
data = TensorDataset(inputs, labels)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def train(data):
    total = 0
    for x, y in DataLoader(data, batch_size=8, shuffle=True):
        losses = F.binary_cross_entropy_with_logits(net(x), y, reduction="none")
        kept = y != -100.0
        loss = losses[kept].mean() + (losses * kept).sum() / kept.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
        score = F.mse_loss(net(x).sigmoid(), kept.float())
        total += score.item()
    return total / len(data)


for epoch in range(3):
    print(epoch, train(data))
