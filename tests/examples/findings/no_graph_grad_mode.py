# no_graph: loss
import torch
torch.set_grad_enabled(False)  # cause
net = torch.nn.Linear(2, 1)
loss = net(torch.ones(1, 2)).sum()  # cause
loss.backward()
