# parameter_detached at 9: decoder
import torch
from torch import nn
class AE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(3, 2, bias=False)
        self.decoder = nn.Linear(2, 3, bias=False)
        self.decoder.weight.data = self.encoder.weight.data.t()
    def forward(self, x):
        return self.decoder(torch.relu(self.encoder(x)))
torch.manual_seed(0)
ae = AE()
opt = torch.optim.SGD(ae.parameters(), lr=0.1)
ae(torch.ones(2, 3)).pow(2).mean().backward()
opt.step()
print(ae.encoder.weight, ae.decoder.weight)
