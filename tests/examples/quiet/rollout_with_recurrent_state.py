import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.lstm, self.head = nn.Linear(3, 8), nn.LSTM(8, 6), nn.Linear(6, 2)
        self.seen = []

    def act(self, x, hidden):
        x = torch.relu(self.body(x))
        x = x.view(-1, 1, 8)
        x, hidden = self.lstm(x, hidden)
        x = self.head(x)
        return x.softmax(2), hidden

    def learn(self, optimizer):
        states, actions, hidden = [list(part) for part in zip(*self.seen)]
        self.seen = []
        start = tuple(part.detach() for part in hidden[0])
        for _ in range(2):
            chances, _ = self.act(torch.stack(states), start)
            loss = -chances.squeeze(1).gather(1, torch.tensor(actions).unsqueeze(1)).log().mean()
            optimizer.zero_grad()
            loss.backward(retain_graph=True)
            optimizer.step()
        return loss.item()


agent = Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=0.01)
for episode in range(2):
    after = (torch.zeros(1, 1, 6), torch.zeros(1, 1, 6))
    for horizon in range(2):
        for t in range(3):
            state, before = torch.randn(3), after
            chances, after = agent.act(state, before)
            agent.seen.append((state, Categorical(chances.view(-1)).sample().item(), before))
        print(episode, agent.learn(optimizer))
