import torch

votes = torch.tensor([0, 1, 1, 1])
once = torch.zeros(2)
once[votes] += 1
print(once)

every = torch.zeros(2)
every.index_put_((votes,), torch.tensor(1.0), accumulate=True)
print(every)
