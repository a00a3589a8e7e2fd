import torch

torch.manual_seed(0)
x = torch.linspace(-2, 2, 32).unsqueeze(1)
y = torch.sin(x)
model = torch.nn.Sequential(torch.nn.Linear(1, 12), torch.nn.Tanh(), torch.nn.Linear(12, 1))
optimizer = torch.optim.LBFGS(model.parameters(), max_iter=5, line_search_fn="strong_wolfe")
calls = 0


def closure():
    global calls
    calls += 1
    optimizer.zero_grad()
    prediction = model(x)  # mistake no_graph: prediction = model(x).detach()
    loss = (prediction - y).pow(2).mean()
    loss.backward()
    return loss


for k in range(3):
    print(k, round(optimizer.step(closure).item(), 5))
print(calls)
