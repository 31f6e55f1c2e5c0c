"""Numbers for people, with the figures that their size deserves."""

import math

MINUS = "\N{MINUS SIGN}"


def gap_between(whole, parts):
    """The rest of a sum of floats; 0 where only rounding is left."""
    rest = whole - parts
    return rest if abs(rest) > 1e-9 * max(abs(whole), 1e-9) else 0.0


def plain(value, digits):
    text = f"{value:,.{digits}f}"
    return text.replace("-", MINUS) if float(text.replace(",", "")) else text.replace("-", "")


def digits_for(value):
    """Digits after the point: four figures in all, at most three digits."""
    if not value:
        return 2
    return min(3, max(0, 3 - math.floor(math.log10(abs(value)))))


def ms(value, digits=None):
    return plain(value, digits_for(value) if digits is None else digits)


def seconds(value):
    """A duration in the unit that leaves figures before the point."""
    unit, scale = next(((unit, scale) for unit, scale in (("s", 1), ("ms", 1e3)) if value * scale >= 0.9995), ("µs", 1e6))
    return f"{plain(value * scale, min(2, digits_for(value * scale)))} {unit}"


def percent(share, digits=1, sign=False):
    return ("+" if sign and round(100 * share, digits) > 0 else "") + plain(100 * share, digits) + " %"


def ratio(value):
    return plain(value, 2) + "x"


def size(count):
    """Bytes in the unit that leaves at most four digits."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= scale:
            return f"{plain(count / scale, 2 if count < 10 * scale else 1)} {unit}"
    return f"{count} B"


def count(value):
    return f"{value:,}"
