# multi_view_inplace: row
import torch
torch.manual_seed(0)
w = torch.randn(3, requires_grad=True)
batch = torch.randn(2, 3) * w
for row in batch:  # cause
    row /= row.norm()  # cause
batch.sum().backward()
