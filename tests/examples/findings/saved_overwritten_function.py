# saved_overwritten: y t
import torch
def halve_in_place(t):
    t /= 2  # cause
    return t
x = torch.tensor([1.0, 4.0], requires_grad=True)
y = x.sqrt()
z = halve_in_place(y)
z.sum().backward()
