# out= writes into given memory, and resizes what is empty.
import torch
to = torch.zeros(2)
alias = to
torch.add(torch.ones(2), 4, out=to)
empty = torch.empty(0)
torch.mul(to, 2, out=empty)
print(alias, to._version, empty)
