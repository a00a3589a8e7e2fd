"""Neural style transfer: Gram matrices, the input picture is what is optimised, LBFGS with a closure."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class ContentLoss(nn.Module):
    def __init__(self, target):
        super(ContentLoss, self).__init__()
        self.target = target.detach()

    def forward(self, input):
        self.loss = F.mse_loss(input, self.target)
        return input


def gram_matrix(input):
    a, b, c, d = input.size()
    features = input.view(a * b, c * d)
    G = torch.mm(features, features.t())
    return G.div(a * b * c * d)


class StyleLoss(nn.Module):
    def __init__(self, target_feature):
        super(StyleLoss, self).__init__()
        self.target = gram_matrix(target_feature).detach()

    def forward(self, input):
        G = gram_matrix(input)
        self.loss = F.mse_loss(G, self.target)
        return input


cnn = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 4, 3, padding=1)).eval().requires_grad_(False)
content_img, style_img = torch.rand(1, 3, 8, 8), torch.rand(1, 3, 8, 8)
model = nn.Sequential()
content_losses, style_losses = [], []
for i, layer in enumerate(cnn.children()):
    if isinstance(layer, nn.ReLU):
        layer = nn.ReLU(inplace=False)
    model.add_module(f"layer_{i}", layer)
    if i == 2:
        content_loss = ContentLoss(model(content_img))
        model.add_module("content", content_loss)
        content_losses.append(content_loss)
        style_loss = StyleLoss(model(style_img))
        model.add_module("style", style_loss)
        style_losses.append(style_loss)
input_img = content_img.clone()
input_img.requires_grad_(True)
optimizer = torch.optim.LBFGS([input_img], max_iter=3)
run = [0]


def closure():
    with torch.no_grad():
        input_img.clamp_(0, 1)
    optimizer.zero_grad()
    model(input_img)
    style_score = sum(sl.loss for sl in style_losses) * 1000
    content_score = sum(cl.loss for cl in content_losses)
    loss = style_score + content_score
    loss.backward()
    run[0] += 1
    return loss


print(round(optimizer.step(closure).item(), 5), run)
with torch.no_grad():
    input_img.clamp_(0, 1)
print(input_img.min() >= 0, input_img.grad.shape)
