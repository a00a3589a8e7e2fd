import torch
net = torch.nn.Linear(2, 1)
losses = [net(torch.ones(1, 2)).sum() for _ in range(2)]
total = (losses[0] + losses[1]) / 2
total.backward()
