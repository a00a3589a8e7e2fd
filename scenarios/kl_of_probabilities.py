import torch
import torch.nn.functional as F

scores = torch.tensor([[2.0, 0.5, 0.1]], requires_grad=True)
p = torch.softmax(scores, 1)
target = torch.full((1, 3), 1 / 3)
loss = F.kl_div(p, target, reduction="batchmean")
loss.backward()
print(loss.item())

print(F.kl_div(p.log(), target, reduction="batchmean").item())
