# backward_twice: target_feat
import torch
from torch import nn
vgg = nn.Conv1d(1, 2, 3)
content = torch.rand(1, 1, 6)
img = content.clone().requires_grad_()
target_feat = vgg(content)  # cause
opt = torch.optim.Adam([img], lr=0.1)
for i in range(2):
    opt.zero_grad()
    loss = nn.functional.mse_loss(vgg(img), target_feat)
    loss.backward()
    opt.step()
