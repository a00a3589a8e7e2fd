import torch

权重 = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
激活 = 权重.sigmoid()
激活.mul_(2.0)
损失 = 激活.sum()
损失.backward()
