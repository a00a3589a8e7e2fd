# A class whose __getattr__ answers anything that is not there.
class Echo:
    real = 1
    def __getattr__(self, name):
        return name.upper()
echo = Echo()
print(echo.real, echo.unreal, "%s" % echo.more, getattr(echo, "a"), hasattr(echo, "b"))
