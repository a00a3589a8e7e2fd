import torch
a = torch.arange(3.0, device="cuda")
n = a.cpu().numpy()
n[0] = 9
print(a.tolist(), n)
b = torch.from_numpy(n).cuda()
b[1] = 7
print(n, b.tolist())
a.numpy()
