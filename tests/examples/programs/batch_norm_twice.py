# The second forward of a batch norm writes running statistics that the first one saved: in training no backward reads them.
import torch
bn = torch.nn.BatchNorm1d(2)
x = torch.tensor([[1.0, 2.0], [3.0, 6.0]], requires_grad=True)
a = bn(x)
b = bn(x + 1)
(a[0].sum() + b[0, 0]).backward()
print(bn.num_batches_tracked, x.grad.shape)
