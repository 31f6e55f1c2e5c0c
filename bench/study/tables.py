"""Tables that are made from the results, each time as a whole."""

import csv


def write_table(path, columns, rows):
    """Floating-point numbers with five digits, everything else as it is."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({key: f"{value:.5g}" if isinstance(value, float) else value
                             for key, value in row.items()})
