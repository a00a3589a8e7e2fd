# A view knows its base; a view of a view has the same base.
import torch
x = torch.arange(6.0)
rows = x.view(2, 3)
top = rows[0]
copy = x.clone()
print(rows._base is x, top._base is x, top._is_view(), copy._base, x._is_view())
