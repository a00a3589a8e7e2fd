import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
a = x * 2
a.retain_grad()
seen = []
a.register_hook(seen.append)

a.mul_(4)
loss = (a * 8).sum()
loss.backward()

print(seen[0], a.grad)
agree = torch.equal(seen[0], a.grad)
