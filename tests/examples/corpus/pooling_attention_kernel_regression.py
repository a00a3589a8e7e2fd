"""Nadaraya-Watson attention pooling, without and with a parameter."""
import torch
from torch import nn

torch.manual_seed(0)
n_train = 12
x_train, _ = torch.sort(torch.rand(n_train) * 5)
f = lambda x: 2 * torch.sin(x) + x ** 0.8
y_train = f(x_train) + torch.normal(0.0, 0.5, (n_train,))
x_test = torch.arange(0, 5, 0.5)
X_repeat = x_test.repeat_interleave(n_train).reshape((-1, n_train))
attention_weights = nn.functional.softmax(-(X_repeat - x_train) ** 2 / 2, dim=1)
y_hat = torch.matmul(attention_weights, y_train)
print(y_hat.shape, attention_weights.sum(1))


class NWKernelRegression(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.rand((1,)))

    def forward(self, queries, keys, values):
        queries = queries.repeat_interleave(keys.shape[1]).reshape((-1, keys.shape[1]))
        self.attention_weights = nn.functional.softmax(-((queries - keys) * self.w) ** 2 / 2, dim=1)
        return torch.bmm(self.attention_weights.unsqueeze(1), values.unsqueeze(-1)).reshape(-1)


mask = (1 - torch.eye(n_train)).type(torch.bool)
keys = x_train.repeat((n_train, 1))[mask].reshape((n_train, -1))
values = y_train.repeat((n_train, 1))[mask].reshape((n_train, -1))
net = NWKernelRegression()
trainer = torch.optim.SGD(net.parameters(), lr=0.5)
for epoch in range(4):
    trainer.zero_grad()
    l = nn.MSELoss(reduction="none")(net(x_train, keys, values), y_train)
    l.sum().backward()
    trainer.step()
    print(f"epoch {epoch + 1}, loss {float(l.sum()):.6f}")
print(net.w, net.attention_weights.shape)
