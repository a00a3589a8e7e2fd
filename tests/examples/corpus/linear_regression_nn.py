"""Linear regression with nn.Linear: the classic of the Chinese tutorials, with a plot left to the reader."""
import numpy as np
import torch
import torch.nn as nn

x_train = np.array([[3.3], [4.4], [5.5], [6.71], [6.93], [4.168]], dtype=np.float32)
y_train = np.array([[1.7], [2.76], [2.09], [3.19], [1.694], [1.573]], dtype=np.float32)
torch.manual_seed(0)
model = nn.Linear(1, 1)
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
for epoch in range(20):
    inputs = torch.from_numpy(x_train)
    targets = torch.from_numpy(y_train)
    outputs = model(inputs)
    loss = criterion(outputs, targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if (epoch + 1) % 5 == 0:
        print("Epoch [{}/{}], Loss: {:.4f}".format(epoch + 1, 20, loss.item()))
predicted = model(torch.from_numpy(x_train)).detach().numpy()
print(predicted.shape, predicted.dtype)
torch.save(model.state_dict(), "model.ckpt")
w, b = model.parameters()
print(w.item() == torch.load("model.ckpt")["weight"].item())
