# saved_overwritten: cell.weight_hh
import torch
torch.manual_seed(0)
cell, head = torch.nn.GRUCell(2, 3), torch.nn.Linear(3, 1)
opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
state = torch.ones(1, 3)
for segment in range(3):
    begin = state
    for t in range(2):
        state = cell(torch.randn(1, 2), state)
    for epoch in range(2):
        loss = head(cell(torch.randn(1, 2), begin)).pow(2).mean()
        opt.zero_grad()
        loss.backward(retain_graph=True)
        opt.step()  # cause
