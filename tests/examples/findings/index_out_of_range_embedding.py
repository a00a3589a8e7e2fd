# index_out_of_range: tokens emb.weight
import torch
emb = torch.nn.Embedding(10, 3)
tokens = torch.tensor([1, 5, 10])
out = emb(tokens)  # cause
