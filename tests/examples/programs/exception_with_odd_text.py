# An exception type whose str is of its own making.
class Odd(ValueError):
    def __str__(self):
        return "odd: " + ", ".join(map(repr, self.args))
raise Odd(1, "two")
