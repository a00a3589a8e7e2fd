"""A loader with workers, as every training script has it."""
import torch
from torch.utils.data import DataLoader, Dataset


class Squares(Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return torch.tensor([float(i)]), torch.tensor([float(i * i)])


def main():
    torch.manual_seed(0)
    loader = DataLoader(Squares(12), batch_size=4, shuffle=True, num_workers=2, pin_memory=False)
    model = torch.nn.Sequential(torch.nn.Linear(1, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for epoch in range(2):
        total = 0.0
        for x, y in loader:
            loss = torch.nn.functional.mse_loss(model(x / 12), y / 144)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
        print(f"epoch {epoch}: {total / 12:.5f}")
    print(len(loader), next(iter(loader))[0].shape)


if __name__ == "__main__":
    main()
