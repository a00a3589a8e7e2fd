# leaf_view_inplace: emb.weight
import torch
emb = torch.nn.Embedding(4, 2)
emb.weight[0].zero_()  # cause
