import torch

x = torch.tensor([1.0, 2.0, 4.0], requires_grad=True)

built = x * x
left = built.detach()

with torch.no_grad():
    never = x * x

left[0] = 16.0
print(built)
print(never)
