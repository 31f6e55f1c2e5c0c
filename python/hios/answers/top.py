"""The largest values of an output, as answers."""

import math
from heapq import nsmallest

from hios.errors import InputError
from hios.words import printable


def vector_length(network, wanted):
    """The number of values per input of the model's output. Refuses more outputs than one, other forms than a vector, and more
    answers than there are values."""
    if len(network.outputs) > 1:
        raise InputError(f"--top is for a single output, and the model has {len(network.outputs)}: "
                         f"{', '.join(each.text() for each in network.outputs)}; --outputs FOLDER writes them")
    output = network.outputs[0]
    rest = output.dims[1:] if output.dims and output.dims[0] == network.batch else output.dims if network.batch == 1 else ()
    if sum(extent > 1 for extent in rest) != 1:
        raise InputError(f"--top is for an output that is a vector, and this is {output.text()}: --outputs FOLDER writes it")
    length = max(rest)
    if wanted > length:
        raise InputError(f"--top {wanted}: the output {output.text()} has {length} values: take at most --top {length}")
    return length


def are_probabilities(values):
    return all(0 <= value <= 1 for value in values) and math.isclose(math.fsum(values), 1, abs_tol=1e-3)


def softmax(values):
    highest = max(values)
    powers = [math.exp(value - highest) for value in values]
    total = math.fsum(powers)
    return [power / total for power in powers]


def largest(values, count):
    """The indices of the largest values, the first of equal ones first; values that are no numbers come last."""
    return nsmallest(count, range(len(values)), key=lambda i: (math.isnan(values[i]), -values[i], i))


def answer_lines(title, values, count, labels=None):
    """The lines for one input: index, label, value and probability. `title` begins the first of them."""
    indices = largest(values, count)
    if not all(map(math.isfinite, values)):
        wrong = sum(not math.isfinite(value) for value in values)
        heading, probabilities = f"{wrong} of {len(values)} values are no finite numbers, so there are no probabilities", None
    elif are_probabilities(values):
        heading, probabilities = "the values are probabilities", None
    else:
        heading, probabilities = "value, and probability by softmax", softmax(values)
    rows = []
    for i in indices:
        row = [str(i), *([labels[i]] if labels else []), f"{values[i]:.5g}"]
        rows.append([*row, *([f"{100 * probabilities[i]:.2f} %"] if probabilities else [])])
    widths = [max(map(len, column)) for column in zip(*rows)]
    left = 1 if labels else None  # labels are text, the others numbers
    lines = [f"{printable(title)}: {heading}"]
    for row in rows:
        cells = [cell.ljust(width) if i == left else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))]
        lines.append("  " + "  ".join(cells))
    return lines
