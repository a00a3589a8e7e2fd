import torch
x = torch.ones(1, requires_grad=True)
with torch.no_grad():
	x += 1
	if True:
		x *= 2
print(x)
