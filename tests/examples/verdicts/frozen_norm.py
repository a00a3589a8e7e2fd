import torch

torch.manual_seed(0)
norm = torch.nn.BatchNorm1d(2).requires_grad_(False)
head = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(head.parameters(), lr=0.1)
for step in range(3):
    x = torch.rand(4, 2) + 3.0
    loss = head(norm(x)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(norm.running_mean)
