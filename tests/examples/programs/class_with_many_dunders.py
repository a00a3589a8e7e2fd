# A container with len, getitem, setitem, contains, iter, call, eq and hash.
class Row:
    def __init__(self, *cells): self.cells = list(cells)
    def __len__(self): return len(self.cells)
    def __getitem__(self, at): return self.cells[at]
    def __setitem__(self, at, value): self.cells[at] = value
    def __contains__(self, value): return value in self.cells
    def __iter__(self): return iter(self.cells)
    def __call__(self, by): return Row(*(c * by for c in self))
    def __eq__(self, other): return self.cells == other.cells
    def __hash__(self): return len(self)
    def __lt__(self, other): return len(self) < len(other)
row = Row(1, 2)
row[0] += 4
print(len(row), 5 in row, list(row(2)), row == Row(5, 2), row[-1], sorted([row, Row()])[0] is row, {row: "key"}[Row(5, 2)])
