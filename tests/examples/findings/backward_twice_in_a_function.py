# backward_twice: loss
import torch
def train(loss):
    loss.backward()  # cause
x = torch.tensor([1.0, 2.0], requires_grad=True)
loss = x.exp().sum()
train(loss)
train(loss)
