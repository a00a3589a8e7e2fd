"""A bidirectional LSTM that reads pictures row by row."""
import torch
import torch.nn as nn

torch.manual_seed(0)


class BiRNN(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers, num_classes):
        super(BiRNN, self).__init__()
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.lstm = nn.LSTM(input_size, hidden_size, num_layers, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(hidden_size * 2, num_classes)

    def forward(self, x):
        h0 = torch.zeros(self.num_layers * 2, x.size(0), self.hidden_size)
        c0 = torch.zeros(self.num_layers * 2, x.size(0), self.hidden_size)
        out, _ = self.lstm(x, (h0, c0))
        out = self.fc(out[:, -1, :])
        return out


model = BiRNN(6, 5, 2, 3)
images, labels = torch.randn(8, 1, 6, 6), torch.randint(3, (8,))
optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
for epoch in range(3):
    outputs = model(images.reshape(-1, 6, 6))
    loss = nn.functional.cross_entropy(outputs, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(epoch, f"{loss.item():.4f}")
print([name for name, _ in model.lstm.named_parameters()][:4], outputs.shape)
