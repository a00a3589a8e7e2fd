# index_copy at 6: emb
import torch
emb = torch.zeros(5, 2)
ids = torch.tensor([1, 1, 3])
grads = torch.ones(3, 2)
emb[ids] -= 0.1 * grads
print(emb)
