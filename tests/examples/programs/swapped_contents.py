# swap_tensors exchanges what two tensors are, under their names.
import torch
a, b = torch.zeros(2), torch.ones(3)
same = a
torch.utils.swap_tensors(a, b)
print(a, b, same is a)
