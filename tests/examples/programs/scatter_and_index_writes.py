# Writes by index: index_add_, scatter_, masked_fill_, index_put with accumulation.
import torch
x = torch.zeros(4)
x.index_add_(0, torch.tensor([0, 0, 2]), torch.tensor([1.0, 2.0, 4.0]))
x.scatter_(0, torch.tensor([3]), 8.0)
x.masked_fill_(x == 0, -1)
x.index_put_((torch.tensor([3, 3]),), torch.tensor(1.0), accumulate=True)
print(x, x._version)
