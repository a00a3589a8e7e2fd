# backward_twice: terms
import torch
torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
terms = []
for epoch in range(2):
    for x in torch.randn(2, 4, 3):
        terms.append(net(x).tanh().pow(2).mean())  # cause
    opt.zero_grad()
    sum(terms).backward()  # cause
    opt.step()
