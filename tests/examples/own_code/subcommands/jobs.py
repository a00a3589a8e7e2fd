import torch


def train(options):
    w = torch.zeros(2, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=options.lr)
    for _ in range(options.rounds):
        optimizer.zero_grad()
        loss = (w - 1).square().sum()
        loss.backward()
        optimizer.step()
    torch.save(w.detach(), "w.pt")
    print("trained", [round(v, 4) for v in w.tolist()])


def test(options):
    print("tested", options.rounds)
