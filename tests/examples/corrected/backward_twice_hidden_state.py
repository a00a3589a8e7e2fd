import torch
torch.manual_seed(0)
cell = torch.nn.RNNCell(2, 3)
h = torch.zeros(1, 3)
opt = torch.optim.SGD(cell.parameters(), lr=0.1)
for step in range(3):
    h = cell(torch.ones(1, 2), h.detach())
    loss = h.sum()
    opt.zero_grad()
    loss.backward()
