"""`python -m server settings`: the page of all settings, in Markdown, as it lies in docs/settings.md."""

from server.settings import SECTIONS, Setting

BINARY, DECIMAL = {30: "GiB", 20: "MiB", 10: "KiB"}, {9: "GB", 6: "MB", 3: "kB"}

INTRODUCTION = """# Settings

By environment. What can't be read, and what contradicts another setting, is named at the start, which then fails.
`python -m server doctor` says what they come to on this host, `/-/status` which ones are not at their default.

This page is written by `make settings`, from the table in `server/settings.py`.
"""


def markdown_page() -> str:
    """Markdown."""
    parts = [INTRODUCTION]
    for section, rows in SECTIONS.items():
        lines = [f"| `{row.variable}` | {format_default(row)} | {row.meaning} |" for row in rows]
        parts.append("\n".join([f"## {section}\n", "| name | default | what it means |", "|---|---|---|", *lines, ""]))
    return "\n".join(parts)


def format_default(row: Setting) -> str:
    """As it is written, and as one says it."""
    if row.default == "":
        return "none"
    if isinstance(row.default, bool):
        return f"`{int(row.default)}` ({'on' if row.default else 'off'})"
    said = format_exact_bytes(row.default) if row.unit == "B" else f"{row.default:g} {row.unit}" if row.unit else ""
    return f"`{row.default}`" + (f" ({said})" if said else "")


def format_bytes(number: int | None) -> str:
    """`1.3 GB`, of whatever many bytes."""
    if number is None:
        return "?"
    power, unit = next((found for found in DECIMAL.items() if number >= 10 ** found[0]), (0, "bytes"))
    return f"{number / 10**power:.1f}".removesuffix(".0") + f" {unit}"


def format_duration(seconds: float) -> str:
    """`3 d 4 h`, `5 min`: the two largest units, of days, hours and minutes."""
    minutes = int(seconds) // 60
    parts = [(minutes // 1440, "d"), (minutes // 60 % 24, "h"), (minutes % 60, "min")]
    first = next((k for k, (count, _) in enumerate(parts) if count), 2)
    return " ".join(f"{count} {unit}" for count, unit in parts[first : first + 2])


def format_exact_bytes(number: int) -> str:
    """`64 KiB`, `8 MB`."""
    if number % 1000:
        power, unit = next((found for found in BINARY.items() if number % (1 << found[0]) == 0), (0, "bytes"))
        return f"{number >> power} {unit}"
    return format_bytes(number)
