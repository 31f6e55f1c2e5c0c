"""Writes tables of results, each as a whole."""

import csv


def write_table(path, columns, rows, digits=5):
    """Formats floating-point numbers with that many digits, and other values unchanged."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({key: f"{value:.{digits}g}" if isinstance(value, float) else value
                             for key, value in row.items()})
