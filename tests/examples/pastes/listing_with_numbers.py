import torch
s = torch.zeros(2)
for k in range(2):
    s[k] = k
print(s)
