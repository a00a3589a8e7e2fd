import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

class PatchTST(nn.Module):
    def __init__(self, L=16, p=4, d=8):
        super().__init__()
        self.p, self.emb = p, nn.Linear(p, d)
        self.layer = nn.TransformerEncoderLayer(d, 2, 16, batch_first=True)
        self.head = nn.Linear(d * (L // p), 4)
    def forward(self, x):
        B, C, L = x.shape
        z = x.reshape(B * C, L // self.p, self.p)
        z = self.layer(self.emb(z))
        return self.head(z.reshape(B, C, -1))
net = PatchTST()
optimizer = torch.optim.Adam(net.parameters())
x, y = torch.randn(3, 4, 16), torch.randn(3, 4, 4)
for step in range(2):
    loss = F.mse_loss(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
