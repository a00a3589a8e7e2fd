# parameter_detached at 15: heads
import torch
import torch.nn as 层
class 网(层.Module):
    def __init__(self):
        super().__init__()
        self.层们 = [层.Linear(2, 2), 层.Linear(2, 1)]
        self.out = 层.Linear(1, 1)
    def forward(self, x):
        for l in self.层们: x = l(x)
        return self.out(x)
class Deeper(层.Sequential):
    def __init__(self):
        super().__init__(层.Linear(2, 2))
        self.heads = {"a": 层.Linear(2, 1)}
    def forward(self, x):
        return self.heads["a"](super().forward(x))
net = 网()
deep = Deeper()
opt = torch.optim.SGD([*net.parameters(), *deep.parameters()], lr=0.1)
loss = net(torch.ones(3, 2)).sum() + deep(torch.ones(3, 2)).sum()
loss.backward(); opt.step()
