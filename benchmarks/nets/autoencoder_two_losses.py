import torch
import torch.nn as nn

torch.manual_seed(0)
enc, dec, cls = nn.Linear(3, 2), nn.Linear(2, 3), nn.Linear(2, 2)
opt = torch.optim.SGD([*enc.parameters(), *dec.parameters(), *cls.parameters()], lr=0.1)
x = torch.randn(2, 3)
y = torch.tensor([0, 1])
z = torch.tanh(enc(x))
rebuild = nn.functional.mse_loss(dec(z), x)
classify = nn.functional.cross_entropy(cls(z), y)
rebuild.backward(retain_graph=True)
classify.backward()
opt.step()
