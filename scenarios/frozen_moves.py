import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.5, momentum=0.5)

(w * 4).sum().backward()
optimizer.step()
print(w)

w.requires_grad_(False)
before = w.clone()
optimizer.step()
print(w)
stays = torch.equal(w, before)
