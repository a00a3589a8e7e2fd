# no_graph: total
import torch
net = torch.nn.Linear(2, 1)
losses = [net(torch.ones(1, 2)).sum() for _ in range(2)]
total = torch.tensor(losses).mean()  # cause
total.backward()
