"""Iterable datasets, batch samplers, ConcatDataset, Subset, collate of dicts, worker_init left at zero."""
import torch
from torch.utils.data import BatchSampler, ConcatDataset, DataLoader, Dataset, IterableDataset, RandomSampler, SequentialSampler, Subset, default_collate


class Stream(IterableDataset):
    def __init__(self, start, end):
        super().__init__()
        self.start, self.end = start, end

    def __iter__(self):
        info = torch.utils.data.get_worker_info()
        assert info is None
        yield from range(self.start, self.end)


print([batch.tolist() for batch in DataLoader(Stream(3, 8), batch_size=2)])


class Points(Dataset):
    def __len__(self):
        return 5

    def __getitem__(self, i):
        if i >= 5:
            raise IndexError
        return {"x": torch.full((2,), float(i)), "name": f"p{i}", "y": i}


for batch in DataLoader(Points(), batch_size=2):
    print(batch["x"].tolist(), batch["name"], batch["y"])
both = ConcatDataset([Points(), Subset(Points(), [0, 4])])
print(len(both), both[6]["name"], both.cumulative_sizes)
print(list(BatchSampler(SequentialSampler(range(5)), batch_size=2, drop_last=False)))
torch.manual_seed(0)
print(list(RandomSampler(range(4))), list(RandomSampler(range(3), replacement=True, num_samples=5)))
print(default_collate([(1, torch.ones(2)), (2, torch.zeros(2))]))
loader = DataLoader(Points(), batch_sampler=BatchSampler(RandomSampler(Points()), 3, False), collate_fn=lambda rows: torch.stack([r["x"] for r in rows]))
print([b.shape for b in loader], len(loader))
it = iter(loader)
next(it)
next(it)
try:
    next(it)
except StopIteration:
    print("end of an epoch")
with_workers = DataLoader(Points(), batch_size=5, num_workers=0, pin_memory=False, persistent_workers=False)
print(next(iter(with_workers))["y"])
