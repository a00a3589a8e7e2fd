"""An autoencoder whose decoder uses the encoder's weights, transposed; sparsity on the code."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)


class TiedAutoencoder(nn.Module):
    def __init__(self, inputs=6, code=3):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(code, inputs) * 0.3)
        self.b_in, self.b_out = nn.Parameter(torch.zeros(code)), nn.Parameter(torch.zeros(inputs))

    def forward(self, x):
        code = torch.sigmoid(F.linear(x, self.weight, self.b_in))
        return F.linear(code, self.weight.t(), self.b_out), code


model = TiedAutoencoder()
x = torch.randn(10, 6)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
rho = 0.1
for step in range(4):
    recon, code = model(x)
    rho_hat = code.mean(0)
    sparsity = (rho * torch.log(rho / rho_hat) + (1 - rho) * torch.log((1 - rho) / (1 - rho_hat))).sum()
    loss = F.mse_loss(recon, x) + 0.1 * sparsity
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.4f} {sparsity.item():.4f}")
print(model.weight.grad.shape)
