# shared_memory at 12: row, store.rows
import numpy as np


class Store:
    def __init__(self):
        self.rows = np.arange(12.0).reshape(4, 3)

    def centre(self, row):
        mean = row.mean()
        for column in range(3):
            row[column] -= mean
        return row

    def get(self, k):
        row = self.rows[k]
        row = self.centre(row)
        return row.sum()


store = Store()
for k in range(4):
    print(store.get(k), store.rows[0])
