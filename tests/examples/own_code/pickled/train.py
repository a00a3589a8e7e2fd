import pickle
from pathlib import Path

import torch


class Record:
    def __init__(self, value):
        self.value = value


Path("record.pickle").write_bytes(pickle.dumps(Record(torch.ones(2))))
again = pickle.loads(Path("record.pickle").read_bytes())
print(type(again) is Record, again.value, Record.__module__)
