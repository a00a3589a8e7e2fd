import torch
q = torch.rand(2, 3, 4, requires_grad=True)
attn = torch.softmax(q @ q.transpose(1, 2), dim=-1)
mask = torch.eye(3).bool()
attn = attn.masked_fill(mask, 0)
out = attn @ q
out.sum().backward()
