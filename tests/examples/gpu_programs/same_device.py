import torch
a = torch.arange(6.0, device="cuda")
b = a.to("cuda")
c = a.cuda(0)
d = a.to("cuda", copy=True)
b += 1
print(a is b, a is c, d.tolist(), a._version)
