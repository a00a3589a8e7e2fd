"""A GRU from scratch held against nn.GRU with the same weights."""
import torch
from torch import nn


class GRUCellScratch(nn.Module):
    def __init__(self, num_inputs, num_hiddens):
        super().__init__()
        init = lambda *shape: nn.Parameter(torch.randn(*shape) * 0.1)
        triple = lambda: (init(num_inputs, num_hiddens), init(num_hiddens, num_hiddens), nn.Parameter(torch.zeros(num_hiddens)))
        self.W_xz, self.W_hz, self.b_z = triple()
        self.W_xr, self.W_hr, self.b_r = triple()
        self.W_xh, self.W_hh, self.b_h = triple()

    def forward(self, inputs, H=None):
        if H is None:
            H = torch.zeros(inputs.shape[1], self.b_z.shape[0])
        outputs = []
        for X in inputs:
            Z = torch.sigmoid(X @ self.W_xz + H @ self.W_hz + self.b_z)
            R = torch.sigmoid(X @ self.W_xr + H @ self.W_hr + self.b_r)
            H_tilde = torch.tanh(X @ self.W_xh + R * (H @ self.W_hh) + self.b_h)
            H = Z * H + (1 - Z) * H_tilde
            outputs.append(H)
        return torch.stack(outputs), H


torch.manual_seed(0)
mine, ref = GRUCellScratch(3, 4), nn.GRU(3, 4)
with torch.no_grad():
    ref.weight_ih_l0.copy_(torch.cat([mine.W_xr.T, mine.W_xz.T, mine.W_xh.T]))
    ref.weight_hh_l0.copy_(torch.cat([mine.W_hr.T, mine.W_hz.T, mine.W_hh.T]))
    ref.bias_ih_l0.zero_()
    ref.bias_hh_l0.zero_()
X = torch.randn(5, 2, 3)
out, h = mine(X)
out_ref, h_ref = ref(X)
print(torch.allclose(out, out_ref, atol=1e-6), torch.allclose(h, h_ref[0], atol=1e-6))
out.sum().backward()
out_ref.sum().backward()
print(torch.allclose(mine.W_xr.grad.T, ref.weight_ih_l0.grad[:4], atol=1e-5))
deep = nn.GRU(3, 4, num_layers=2, bidirectional=True, dropout=0.0)
o, hn = deep(X)
print(o.shape, hn.shape, [tuple(p.shape) for p in deep.parameters()][:4])
