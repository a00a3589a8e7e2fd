import torch
torch.manual_seed(0)
net = torch.nn.Linear(2, 2)
features = torch.tanh(net(torch.ones(1, 2)))
loss1 = features.sum()
loss2 = (features ** 2).sum()

(loss1 + loss2).backward()
