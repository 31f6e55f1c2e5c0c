"""The printed summary: 80 columns."""

import textwrap

from hios.benchmark.disturbance import SHARE as DISTURBED
from hios.benchmark.verdict import ms_text

WIDTH = 80
COLUMNS = ["row", "best 1/4", "p50", "p95", "speedup", "predicted", "error"]
DROPPED = ["p50", "error", "predicted", "p95"]  # in this order, where the table is too wide


def cells(row):
    ms, error = row["latency_ms"], 100 * row["prediction_error"]
    return [row["name"], *(ms_text(ms[key]) for key in ("best_quarter", "median", "p95")),
            f"{row['speedup_over_one_core']:.2f}x", ms_text(row["predicted_ms"]),
            f"{error:+.1f} %" if abs(error) < 9.95 else f"{error:+.0f} %"]


def without(lines, column):
    index = lines[0].index(column)
    return [line[:index] + line[index + 1:] for line in lines]


def aligned(lines):
    """The lines with a rule below the first: names to the left, numbers to the right."""
    widths = [max(len(line[c]) for line in lines) for c in range(len(lines[0]))]
    ruled = [lines[0], ["-" * width for width in widths], *lines[1:]]
    return ["  ".join(cell.ljust(widths[c]) if c == 0 else cell.rjust(widths[c])
                      for c, cell in enumerate(line)).rstrip() for line in ruled]


def fitted(lines, dropped):
    """Aligned lines of at most WIDTH columns, if dropping these columns suffices."""
    text = aligned(lines)
    for column in dropped:
        if max(map(len, text)) <= WIDTH:
            break
        lines = without(lines, column)
        text = aligned(lines)
    return text


def table(summary):
    return "\n".join(fitted([COLUMNS, *map(cells, summary["rows"])], DROPPED))


def checked(row):
    return row["verified"] and row["bitwise_equal_to_one_rank"]


def verified_line(summary):
    wrong = [row["name"] for row in summary["rows"] if not checked(row)]
    if wrong:
        return f"NOT VERIFIED: {', '.join(wrong)}"
    return "every row is verified against plain loops, and bit for bit against one rank"


def notes(summary):
    """Notes below the table, a line each."""
    extra = summary["extra"]
    yield verified_line(summary)
    if "limits" not in extra:  # of an older summary, whose limit no verdict names
        limit = extra["two_rank_limit"]
        yield (f"no schedule on 2 ranks x 1 core takes less than {limit['ms']:.2f} ms ({limit['bound']}), "
               f"{limit['speedup_over_one_core']:.2f}x over 1 core")
    for yardstick in extra.get("yardsticks", []):
        ms = yardstick["latency_ms"]
        yield f"{yardstick['name']}: min {ms['min']:.2f}, best 1/4 {ms['best_quarter']:.2f}, median {ms['median']:.2f}"
    if any(row["ranks"] > 1 and row["threads"] == 1 for row in summary["rows"]):
        yield ("a rank of one core has one stream: Alg. 2 finds nothing to group there, so hios-lp is inter-lp, "
               "and hios-mr inter-mr")
    yield from disturbance(summary)
    yield from extra.get("repeated", [])
    if extra.get("unsettled"):
        yield (f"the profile of {', '.join(extra['unsettled'])} did not settle, because the machine did something else "
               "meanwhile: predictions may be off")
    yield from extra.get("remarks", [])


def disturbance(summary):
    """The line of an older summary; the verdict of others has it."""
    runs = sum(row["latency_ms"]["samples"] for row in summary["rows"])
    disturbed = sum(row["latency_ms"].get("disturbed", 0) for row in summary["rows"])
    if "verdict" not in summary["extra"] and disturbed > DISTURBED * runs:
        yield f"the machine did something else during {disturbed} of the {runs} runs"


def runs_text(summary):
    counts = [row["latency_ms"]["samples"] for row in summary["rows"]]
    return f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"


def heading(summary):
    rounds = summary["extra"]["rounds"]
    return (f"{summary['model']}, latency in ms (maximum over ranks), {runs_text(summary)} runs per row in "
            f"{rounds} round{'' if rounds == 1 else 's'}; the one-core row varied by "
            f"{100 * summary['reference_moved']:.1f} % between rounds")


def folded(line, indent=""):
    """A sentence in lines of WIDTH columns."""
    return textwrap.fill(line, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def folded_verdict(line):
    """A line of the verdict; one with columns that is too long continues at the first of them."""
    name, gap, columns = line.partition("   ")
    if len(line) > WIDTH and gap:
        return f"{folded(name, '  ')}\n  {columns}"
    return line if gap else folded(line, "  ")


def page(summary):
    said = [folded_verdict(line) for line in summary["extra"].get("verdict", [])]
    return "\n".join(["", folded(heading(summary)), "", table(summary), "", *(folded(note, "  ") for note in notes(summary)),
                      *(["", *said] if said else [])])
