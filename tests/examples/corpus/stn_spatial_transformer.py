"""A spatial transformer network: a localisation net, affine_grid and grid_sample."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class STN(nn.Module):
    def __init__(self):
        super().__init__()
        self.localization = nn.Sequential(nn.Conv2d(1, 4, 3), nn.MaxPool2d(2, stride=2), nn.ReLU(True))
        self.fc_loc = nn.Sequential(nn.Linear(4 * 3 * 3, 8), nn.ReLU(True), nn.Linear(8, 3 * 2))
        self.fc_loc[2].weight.data.zero_()
        self.fc_loc[2].bias.data.copy_(torch.tensor([1, 0, 0, 0, 1, 0], dtype=torch.float))
        self.fc = nn.Linear(64, 3)

    def stn(self, x):
        xs = self.localization(x)
        xs = xs.view(-1, 4 * 3 * 3)
        theta = self.fc_loc(xs)
        theta = theta.view(-1, 2, 3)
        grid = F.affine_grid(theta, x.size(), align_corners=False)
        return F.grid_sample(x, grid, align_corners=False)

    def forward(self, x):
        x = self.stn(x)
        return F.log_softmax(self.fc(x.flatten(1)), dim=1)


model = STN()
x, y = torch.rand(4, 1, 8, 8), torch.tensor([0, 1, 2, 1])
print(torch.allclose(model.stn(x), x, atol=1e-5))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    optimizer.zero_grad()
    loss = F.nll_loss(model(x), y)
    loss.backward()
    optimizer.step()
    print(epoch, f"{loss.item():.4f}", model.fc_loc[2].bias.grad.abs().sum().item() > 0)
print(model.fc_loc[2].bias.detach()[:2])
