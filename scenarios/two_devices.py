import torch

x = torch.ones(3)
shift = torch.ones(3, device="meta")
print(x.device, shift.device)

moved = torch.ones(3).to(x.device)
print(x + moved)
x + shift
