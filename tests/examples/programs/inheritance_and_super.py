# Abstract base, multiple inheritance, method order, slots, a static method.
import abc
class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self): ...
    def tell(self):
        return f"{type(self).__name__} {self.area()}"
class Named:
    __slots__ = ()
    def tell(self):
        return "named " + super().tell()
class Square(Named, Shape):
    def __init__(self, side):
        self.side = side
    def area(self):
        return self.side ** 2
    @staticmethod
    def unit():
        return Square(1)
print(Square(4).tell(), Square.unit().area(), [c.__name__ for c in Square.__mro__[:3]])
try:
    Shape()
except TypeError as error:
    print("abstract" in str(error))
