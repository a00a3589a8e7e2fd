"""Formats bytes and durations for people."""

DECIMAL_UNITS = {9: "GB", 6: "MB", 3: "kB"}


def format_bytes(number: int | None) -> str:
    """Format a number of bytes with one decimal, like `1.3 GB`; `?` for None."""
    if number is None:
        return "?"
    power, unit = next((item for item in DECIMAL_UNITS.items() if number >= 10 ** item[0]), (0, "bytes"))
    return f"{number / 10**power:.1f}".removesuffix(".0") + f" {unit}"


def format_duration(seconds: float) -> str:
    """Format seconds in the two largest of days, hours and minutes, like `3 d 4 h` or `5 min`."""
    minutes = int(seconds) // 60
    parts = [(minutes // 1440, "d"), (minutes // 60 % 24, "h"), (minutes % 60, "min")]
    first = next((k for k, (count, _) in enumerate(parts) if count), 2)
    return " ".join(f"{count} {unit}" for count, unit in parts[first : first + 2])
