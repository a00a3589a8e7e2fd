"""Logistic regression over batches from a DataLoader."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
input_size, num_classes, num_epochs, batch_size, learning_rate = 16, 4, 2, 8, 0.1
labels = torch.arange(32) % num_classes
images = torch.randn(32, 1, 4, 4) + labels.view(-1, 1, 1, 1)
train_loader = DataLoader(dataset=TensorDataset(images, labels), batch_size=batch_size, shuffle=True)
model = nn.Linear(input_size, num_classes)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
total_step = len(train_loader)
for epoch in range(num_epochs):
    for i, (x, y) in enumerate(train_loader):
        x = x.reshape(-1, input_size)
        outputs = model(x)
        loss = criterion(outputs, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (i + 1) % 2 == 0:
            print("Epoch [{}/{}], Step [{}/{}], Loss: {:.4f}".format(epoch + 1, num_epochs, i + 1, total_step, loss.item()))
with torch.no_grad():
    correct = total = 0
    for x, y in train_loader:
        _, predicted = torch.max(model(x.reshape(-1, input_size)).data, 1)
        total += y.size(0)
        correct += (predicted == y).sum()
    print("Accuracy: {} %".format(100 * correct / total))
