"""Convolutions by hand: correlation, padding, stride, channels, pooling, edge detection, unfold."""
import torch
import torch.nn.functional as F
from torch import nn


def corr2d(X, K):
    h, w = K.shape
    Y = torch.zeros((X.shape[0] - h + 1, X.shape[1] - w + 1))
    for i in range(Y.shape[0]):
        for j in range(Y.shape[1]):
            Y[i, j] = (X[i:i + h, j:j + w] * K).sum()
    return Y


X = torch.arange(9.0).reshape(3, 3)
K = torch.tensor([[0.0, 1.0], [2.0, 3.0]])
print(corr2d(X, K))


class Conv2D(nn.Module):
    def __init__(self, kernel_size):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(kernel_size))
        self.bias = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return corr2d(x, self.weight) + self.bias


X = torch.ones((4, 6))
X[:, 2:4] = 0
K = torch.tensor([[1.0, -1.0]])
Y = corr2d(X, K)
print(Y)
torch.manual_seed(0)
conv2d = nn.Conv2d(1, 1, kernel_size=(1, 2), bias=False)
X, Y = X.reshape((1, 1, 4, 6)), Y.reshape((1, 1, 4, 5))
lr = 3e-2
for i in range(6):
    Y_hat = conv2d(X)
    l = (Y_hat - Y) ** 2
    conv2d.zero_grad()
    l.sum().backward()
    conv2d.weight.data[:] -= lr * conv2d.weight.grad
    if (i + 1) % 2 == 0:
        print(f"epoch {i + 1}, loss {l.sum():.3f}")
print(conv2d.weight.data.reshape((1, 2)))
x = torch.randn(1, 2, 6, 6)
for kernel, stride, padding, dilation in [(3, 1, 0, 1), (3, 1, 1, 1), (3, 2, 1, 1), (3, 1, 2, 2), (5, 3, 0, 1)]:
    print((kernel, stride, padding, dilation), tuple(nn.Conv2d(2, 3, kernel, stride, padding, dilation)(x).shape))
w = torch.randn(3, 2, 3, 3)
unfolded = F.unfold(x, 3).transpose(1, 2) @ w.view(3, -1).t()
print(torch.allclose(unfolded.transpose(1, 2).view(1, 3, 4, 4), F.conv2d(x, w), atol=1e-5))
depthwise = nn.Conv2d(2, 2, 3, padding=1, groups=2)
print(depthwise.weight.shape, F.avg_pool2d(x, 2).shape, F.adaptive_max_pool2d(x, 1).shape, F.interpolate(x, scale_factor=2).shape)
print(nn.Conv1d(2, 4, 3)(torch.randn(1, 2, 8)).shape, nn.Conv3d(1, 2, 2)(torch.randn(1, 1, 4, 4, 4)).shape, nn.PixelShuffle(2)(torch.randn(1, 8, 2, 2)).shape)
