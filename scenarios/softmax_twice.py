import torch
import torch.nn.functional as F

scores = torch.tensor([[6.0, 0.0, 0.0]], requires_grad=True)
label = torch.tensor([0])
p = torch.softmax(scores, 1)
loss = F.cross_entropy(p, label)
loss.backward()
print(loss.item(), scores.grad)

print(F.cross_entropy(scores, label).item())
