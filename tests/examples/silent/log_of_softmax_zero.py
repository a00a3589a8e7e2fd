# nonfinite at 5: p
import torch
logits = torch.tensor([200.0, -200.0], requires_grad=True)
p = torch.softmax(logits, 0)
entropy = -(p * torch.log(p)).sum()
entropy.backward()
print(entropy, logits.grad)
