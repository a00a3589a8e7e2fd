# nonfinite at 6: q
import torch
logits = torch.zeros(3, requires_grad=True)
p = torch.softmax(logits, 0)
q = torch.tensor([0.5, 0.5, 0.0])
kl = (p * torch.log(p / q)).sum()
kl.backward()
print(kl, logits.grad)
