# no_grad_view_inplace: part
import torch
@torch.no_grad()
def first_row(t):
    return t[0]  # cause
base = torch.zeros(2, 2, requires_grad=True).clone()
part = first_row(base)  # cause
part += 1  # cause
