# saved_overwritten: s softmax
import torch
from torch import nn
torch.manual_seed(0)
class Attn(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(3, 3)
    def forward(self, x, mask):
        s = self.q(x) @ x.transpose(1, 2)
        s = s.softmax(-1)
        s *= mask  # cause
        s /= s.sum(-1, keepdim=True)
        return s @ x
m = Attn()
out = m(torch.randn(2, 4, 3), (torch.rand(2, 4, 4) > 0.3).float())
out.sum().backward()
