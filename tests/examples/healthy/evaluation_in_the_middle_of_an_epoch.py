import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 6), nn.Dropout(0.2), nn.Linear(6, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
def score(samples):
    was_training = net.training
    net.eval()
    with torch.no_grad():
        result = net(samples).square().mean().item()
    net.train(was_training)
    return result
data = torch.randn(5, 4, 3)
for epoch in range(2):
    net.train()
    for k, batch in enumerate(data):
        if k == 3:
            print(score(data[0]))
        optimizer.zero_grad()
        (net(batch) - batch.sum(1, keepdim=True)).square().mean().backward()
        optimizer.step()
    net.eval()
    nearest = batch.clone().requires_grad_()
    net(nearest).sum().backward()
    print(nearest.grad.abs().mean().item())
