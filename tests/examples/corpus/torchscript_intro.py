"""TorchScript: tracing, scripting, mixing, saving and loading."""
import torch


class MyDecisionGate(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x
        else:
            return -x


class MyCell(torch.nn.Module):
    def __init__(self, dg):
        super(MyCell, self).__init__()
        self.dg = dg
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x, h):
        new_h = torch.tanh(self.dg(self.linear(x)) + h)
        return new_h, new_h


torch.manual_seed(0)
x, h = torch.rand(3, 4), torch.rand(3, 4)
plain = torch.nn.Linear(4, 2)
traced = torch.jit.trace(plain, x)
print(torch.allclose(traced(x), plain(x)))
scripted_gate = torch.jit.script(MyDecisionGate())
my_cell = MyCell(scripted_gate)
scripted_cell = torch.jit.script(my_cell)
out, _ = scripted_cell(x, h)
print(out.shape, torch.allclose(out, my_cell(x, h)[0]))


class MyRNNLoop(torch.nn.Module):
    def __init__(self):
        super(MyRNNLoop, self).__init__()
        self.cell = torch.jit.trace(MyCell(scripted_gate), (x, h))

    def forward(self, xs):
        h, y = torch.zeros(3, 4), torch.zeros(3, 4)
        for i in range(xs.size(0)):
            y, h = self.cell(xs[i], h)
        return y, h


rnn_loop = torch.jit.script(MyRNNLoop())
print(rnn_loop(torch.rand(4, 3, 4))[0].shape)
rnn_loop.save("rnn_loop.pt")
loaded = torch.jit.load("rnn_loop.pt")
print(type(loaded).__name__, loaded(torch.rand(2, 3, 4))[1].shape)


@torch.jit.script
def relu_twice(x: torch.Tensor, n: int = 2):
    for _ in range(n):
        x = torch.relu(x)
    return x


print(relu_twice(torch.tensor([-1.0, 2.0])), "aten::relu" in str(relu_twice.graph))
