import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)

    def foward(self, x):
        return self.layer(x)


net = Net()
x = torch.ones(3, 2)
print(net.foward(x).shape)
net(x)
