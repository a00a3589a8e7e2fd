import torch
net = torch.nn.Linear(2, 1)
value = net(torch.ones(1, 2))
loss = value.pow(2)
loss.backward()
