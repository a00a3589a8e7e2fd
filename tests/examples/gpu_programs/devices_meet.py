import torch
a = torch.ones(2)
b = torch.ones(2, device="cuda", requires_grad=True)
print((b * 2.0).device, (b * torch.tensor(2.0)).device)
c = b @ a
