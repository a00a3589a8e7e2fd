import torch
from torch import nn
torch.manual_seed(2)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Sequential(nn.Embedding(20, 8), nn.Flatten(), nn.Linear(32, 20)).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.5, momentum=0.9)
x = torch.randint(0, 20, (16, 4), device=device)
t = torch.randint(0, 20, (16,), device=device)
for i in range(6):
    loss = nn.functional.cross_entropy(net(x), t)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    print(i, round(loss.item(), 2))
