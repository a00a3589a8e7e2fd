# shape_mismatch: one value per channel
import torch
net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3))
out = net(torch.ones(1, 4))  # cause
