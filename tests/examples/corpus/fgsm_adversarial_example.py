"""The fast gradient sign method: a gradient with respect to the picture."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, 3)
        self.fc1 = nn.Linear(4 * 3 * 3, 4)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        return F.log_softmax(self.fc1(torch.flatten(x, 1)), dim=1)


def fgsm_attack(image, epsilon, data_grad):
    sign_data_grad = data_grad.sign()
    perturbed_image = image + epsilon * sign_data_grad
    return torch.clamp(perturbed_image, 0, 1)


model = Net()
data_x, data_y = torch.rand(5, 1, 8, 8), torch.randint(0, 4, (5,))
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for _ in range(5):
    optimizer.zero_grad()
    F.nll_loss(model(data_x), data_y).backward()
    optimizer.step()
model.eval()
for epsilon in [0, 0.1, 0.3]:
    correct, adv_examples = 0, []
    for k in range(len(data_x)):
        data, target = data_x[k:k + 1].clone(), data_y[k:k + 1]
        data.requires_grad = True
        output = model(data)
        init_pred = output.max(1, keepdim=True)[1]
        if init_pred.item() != target.item():
            continue
        loss = F.nll_loss(output, target)
        model.zero_grad()
        loss.backward()
        data_grad = data.grad.data
        perturbed_data = fgsm_attack(data, epsilon, data_grad)
        final_pred = model(perturbed_data).max(1, keepdim=True)[1]
        if final_pred.item() == target.item():
            correct += 1
        else:
            adv_examples.append((init_pred.item(), final_pred.item(), perturbed_data.squeeze().detach().cpu().numpy()))
    print(f"Epsilon: {epsilon}\tTest Accuracy = {correct} / {len(data_x)} = {correct / len(data_x)}", len(adv_examples))
