import torch
m = torch.stack([torch.ones(2),
                 torch.zeros(2)])
m.shape
