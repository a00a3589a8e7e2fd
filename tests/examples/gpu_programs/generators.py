import torch
torch.manual_seed(3)
a = torch.rand(4, device="cuda")
torch.manual_seed(3)
b = torch.rand(4, device="cuda")
own = torch.Generator(device="cuda")
own.manual_seed(3)
c = torch.rand(4, device="cuda", generator=own)
print(torch.equal(a, b), torch.equal(a, c), [round(x, 4) for x in a.tolist()])
