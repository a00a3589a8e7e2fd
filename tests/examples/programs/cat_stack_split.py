# cat copies, split and chunk are views of one storage.
import torch
a, b = torch.zeros(2), torch.ones(2)
joined = torch.cat([a, b])
left, right = joined.split(2)
left += 4
piled = torch.stack([a, b])
a[0] = 16
print(joined, right._base is joined, piled, torch.chunk(piled, 2)[1])
