# no_graph: loss
import torch
net = torch.nn.Linear(2, 1)
value = net(torch.ones(1, 2)).item()  # cause
loss = torch.tensor(value) ** 2  # cause
loss.backward()
