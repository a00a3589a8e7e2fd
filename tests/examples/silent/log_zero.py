# nonfinite at 4: p
import torch
p = torch.tensor([1., 0.], requires_grad=True)
entropy = -(p * torch.log(p)).sum()
entropy.backward()
print(entropy, p.grad)
