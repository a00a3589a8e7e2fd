"""A round."""


def train_step(model, optimizer, x):
    prediction = model(x)
    loss = (prediction - x[:, :1]).pow(2).mean()  # mistake shape_mismatch: loss = (prediction - x[:, 0]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
