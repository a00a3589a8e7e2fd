import torch
from data import Squares
from torch.utils.data import DataLoader


def main():
    torch.manual_seed(0)
    loader = DataLoader(Squares(16), batch_size=4, num_workers=2, multiprocessing_context="spawn")
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(1):
        for x, y in loader:
            prediction = model(x)
            loss = (prediction - y).pow(2).mean()  # mistake shape_mismatch: loss = (prediction - y.squeeze(1)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, round(loss.item(), 5))


if __name__ == "__main__":
    main()
