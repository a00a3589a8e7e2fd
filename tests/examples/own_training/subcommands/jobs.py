import torch


def fit(options):
    torch.manual_seed(0)
    head = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(head.parameters(), lr=options.lr)
    x = torch.randn(8, 4)
    target = torch.arange(8) % 2
    for k in range(3):
        logits = head(x)
        loss = torch.nn.functional.cross_entropy(logits, target)  # mistake activation_twice: loss = torch.nn.functional.cross_entropy(logits.softmax(1), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(k, round(loss.item(), 4))
    torch.save(head.state_dict(), "head.pt")


def check(options):
    print("nothing to check", vars(options)["command"])
