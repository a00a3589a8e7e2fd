# A view of a leaf made under no_grad, and one made with grad mode on.
import torch
x = torch.arange(4.0).requires_grad_()
with torch.no_grad():
    quiet = x.view(2, 2)
loud = x.view(2, 2)
print(quiet.requires_grad, quiet.is_leaf, quiet.grad_fn, quiet._base is x)
print(loud.requires_grad, loud.is_leaf, loud.grad_fn.name())
