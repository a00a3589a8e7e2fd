import torch

torch.manual_seed(0)
w = torch.randn(3, 1, requires_grad=True)
hidden = torch.randn(40, 30, requires_grad=True)
x, y = torch.randn(8, 40), torch.randn(8, 1)


def fresh(grad):
    data = grad.data
    return data.new().resize_as_(data).zero_()


for reset in (fresh, torch.zeros_like, lambda grad: grad.clone().zero_(), lambda grad: 0 * grad):
    params = [w, hidden]
    opt = torch.optim.SGD(params, lr=0.01)
    for _ in range(3):
        loss = ((x @ hidden)[:, :3] @ w - y).pow(2).mean()
        loss.backward()
        opt.step()
        for p in params:
            p.grad = reset(p.grad)
        print(loss.item())
