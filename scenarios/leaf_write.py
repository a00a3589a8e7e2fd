import torch

plain = torch.tensor([1.0, 2.0])
w = torch.tensor([1.0, 2.0], requires_grad=True)
print(plain.is_leaf, w.is_leaf)

plain += 8
with torch.no_grad():
    w += 8
holds = w.tolist() == [1.0, 2.0]
print(plain, w)

w += 8
