# grad_none at 5: img
import torch
content = torch.rand(1, 3)
img = content.clone().requires_grad_(True)
img = torch.sigmoid(img)
loss = (img - 0.3).pow(2).sum()
loss.backward()
print(img.grad)
