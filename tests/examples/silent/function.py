# shared_memory at 4: x, t
import torch
def normalize(t):
    t -= t.mean()
    t /= t.std()
    return t
x = torch.tensor([1., 2., 3.])
y = normalize(x)
print(x)
