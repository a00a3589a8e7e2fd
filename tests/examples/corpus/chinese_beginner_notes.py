"""张量基础：创建、运算、自动求导、训练一个线性模型（中文教程常见的一页）"""
import torch
import torch.nn as 神经网络

torch.manual_seed(0)
张量 = torch.arange(6, dtype=torch.float32).reshape(2, 3)
print("形状：", 张量.shape, "求和：", 张量.sum().item())
权重 = torch.ones(3, requires_grad=True)
输出 = (张量 @ 权重).sum()
输出.backward()
print("梯度：", 权重.grad)
# 线性模型
模型 = 神经网络.Linear(3, 1)
优化器 = torch.optim.SGD(模型.parameters(), lr=0.05)
目标 = torch.tensor([[1.0], [2.0]])
for 轮次 in range(3):
    优化器.zero_grad()
    损失 = ((模型(张量) - 目标) ** 2).mean()
    损失.backward()
    优化器.step()
    print(f"第{轮次 + 1}轮，损失：{损失.item():.4f}")
克隆 = 权重.clone()
分离 = 权重.detach()
分离[0] = 5
print("共享内存：", 权重.data_ptr() == 分离.data_ptr(), 权重.data_ptr() == 克隆.data_ptr())
torch.save(模型.state_dict(), "模型.pt")
print(list(torch.load("模型.pt")))
