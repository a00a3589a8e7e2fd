# Division by zero inside a property, called by an f-string.
class Rate:
    def __init__(self, total, count):
        self.total, self.count = total, count
    @property
    def mean(self):
        return self.total / self.count
print(f"{Rate(4, 2).mean}")
print(f"{Rate(4, 0).mean}")
