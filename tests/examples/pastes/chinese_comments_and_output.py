import torch
x = torch.tensor([1., 2., 3.], requires_grad=True)
y = (x ** 2).sum()
y.backward()
print('梯度：', x.grad)
"""
输出：
梯度： tensor([2., 4., 6.])
"""
