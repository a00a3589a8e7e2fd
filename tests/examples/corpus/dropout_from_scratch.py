"""Dropout by hand against nn.Dropout, in training and evaluation."""
import torch
from torch import nn


def dropout_layer(X, dropout):
    assert 0 <= dropout <= 1
    if dropout == 1:
        return torch.zeros_like(X)
    mask = (torch.rand(X.shape) > dropout).float()
    return mask * X / (1.0 - dropout)


torch.manual_seed(0)
X = torch.arange(16, dtype=torch.float32).reshape((2, 8))
print(X)
print("dropout_p = 0:", dropout_layer(X, 0))
print("dropout_p = 0.5:", dropout_layer(X, 0.5))
print("dropout_p = 1:", dropout_layer(X, 1))


class DropoutMLPScratch(nn.Module):
    def __init__(self, num_outputs, num_hiddens_1, num_hiddens_2, dropout_1, dropout_2):
        super().__init__()
        self.lin1 = nn.Linear(8, num_hiddens_1)
        self.lin2 = nn.Linear(num_hiddens_1, num_hiddens_2)
        self.lin3 = nn.Linear(num_hiddens_2, num_outputs)
        self.relu = nn.ReLU()
        self.dropout_1, self.dropout_2 = dropout_1, dropout_2

    def forward(self, X):
        H1 = self.relu(self.lin1(X.reshape((X.shape[0], -1))))
        if self.training:
            H1 = dropout_layer(H1, self.dropout_1)
        H2 = self.relu(self.lin2(H1))
        if self.training:
            H2 = dropout_layer(H2, self.dropout_2)
        return self.lin3(H2)


net = DropoutMLPScratch(3, 6, 6, 0.5, 0.5)
a, b = net(X), net(X)
print(torch.equal(a, b))
net.eval()
print(torch.equal(net(X), net(X)))
concise = nn.Sequential(nn.Linear(8, 6), nn.ReLU(), nn.Dropout(0.5), nn.Linear(6, 3))
opt = torch.optim.SGD(concise.parameters(), lr=0.01)
for step in range(3):
    loss = nn.functional.cross_entropy(concise(X), torch.tensor([0, 2]))
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.4f}")
