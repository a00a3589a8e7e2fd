# grad_none at 5: logits, pred
import torch
logits = torch.randn(3, 4, requires_grad=True)
scale = torch.ones(1, requires_grad=True)
pred = logits.argmax(1).float()
loss = (scale * pred).sum()
loss.backward()
print(logits.grad)
