import torch
torch.manual_seed(0)
class Dueling(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(4, 8)
        self.value, self.advantage = torch.nn.Linear(8, 1), torch.nn.Linear(8, 3)
    def forward(self, state):
        hidden = torch.relu(self.body(state))
        value, advantage = self.value(hidden), self.advantage(hidden)
        return value + advantage - advantage.mean(dim=1, keepdim=True)
net = Dueling()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(3):
    state, action, reward = torch.randn(8, 4), torch.randint(0, 3, (8, 1)), torch.randn(8, 1)
    with torch.no_grad():
        ahead = net(torch.randn(8, 4)).max(1, keepdim=True)[0]
    loss = torch.nn.functional.mse_loss(net(state).gather(1, action), reward + 0.9 * ahead)
    opt.zero_grad()
    loss.backward()
    opt.step()
# scores whose common mean is taken off before a cross entropy: it changes nothing
scores = net(torch.randn(8, 4))
centred = scores - scores.mean()
print(torch.nn.functional.cross_entropy(centred, torch.randint(0, 3, (8,))).item(), centred.argmax(1))
advantages = torch.randn(8, 2)
print(((advantages - advantages.mean()) / advantages.std()).sum().item())
# a table whose rows are states, not samples
table = torch.randn(6, 3, requires_grad=True)
centred_table = table - table.mean()
print(centred_table.gather(1, torch.randint(0, 3, (6, 1))).sum().item(), centred_table.max(1)[0].sum().item())
