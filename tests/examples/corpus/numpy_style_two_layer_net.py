"""The warm-up of many courses: a two-layer network, first in numpy, then with tensors, then with autograd."""
import numpy as np
import torch

N, D_in, H, D_out = 16, 20, 10, 4
rng = np.random.RandomState(0)
x, y = rng.randn(N, D_in), rng.randn(N, D_out)
w1, w2 = rng.randn(D_in, H), rng.randn(H, D_out)
learning_rate = 1e-4
for t in range(5):
    h = x.dot(w1)
    h_relu = np.maximum(h, 0)
    y_pred = h_relu.dot(w2)
    loss = np.square(y_pred - y).sum()
    grad_y_pred = 2.0 * (y_pred - y)
    grad_w2 = h_relu.T.dot(grad_y_pred)
    grad_h_relu = grad_y_pred.dot(w2.T)
    grad_h = grad_h_relu.copy()
    grad_h[h < 0] = 0
    grad_w1 = x.T.dot(grad_h)
    w1 -= learning_rate * grad_w1
    w2 -= learning_rate * grad_w2
print(round(float(loss), 3))
device = torch.device("cpu")
x, y = torch.from_numpy(x).to(device), torch.from_numpy(y).to(device)
w1 = torch.from_numpy(rng.randn(D_in, H)).requires_grad_()
w2 = torch.from_numpy(rng.randn(H, D_out)).requires_grad_()
for t in range(5):
    y_pred = x.mm(w1).clamp(min=0).mm(w2)
    loss = (y_pred - y).pow(2).sum()
    loss.backward()
    with torch.no_grad():
        w1 -= learning_rate * w1.grad
        w2 -= learning_rate * w2.grad
        w1.grad.zero_()
        w2.grad.zero_()
print(round(loss.item(), 3))


class TwoLayerNet(torch.nn.Module):
    def __init__(self, D_in, H, D_out):
        super(TwoLayerNet, self).__init__()
        self.linear1 = torch.nn.Linear(D_in, H)
        self.linear2 = torch.nn.Linear(H, D_out)

    def forward(self, x):
        return self.linear2(self.linear1(x).clamp(min=0))


torch.manual_seed(0)
model = TwoLayerNet(D_in, H, D_out).double()
criterion = torch.nn.MSELoss(reduction="sum")
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
for t in range(5):
    loss = criterion(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(round(loss.item(), 3))
