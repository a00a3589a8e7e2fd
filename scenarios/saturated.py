import torch

logit = torch.tensor(200.0, requires_grad=True)
target = torch.tensor(0.0)

p = logit.sigmoid()
((p - target) ** 2).backward()
print(p, logit.grad)
pulled_back = logit.grad.item() != 0.0

logit.grad = None
torch.nn.functional.binary_cross_entropy_with_logits(logit, target).backward()
print(logit.grad)
