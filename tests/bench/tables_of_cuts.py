"""The table of cuts on other machines in docs/cutting.md, from cuts.csv in bench/results/study."""

import cut_tables
from markdown_tables import RESULTS, rows_in


def gains():
    return rows_in("\n".join(cut_tables.table(RESULTS / "study")))


RECOMPUTED = {("docs/cutting.md", "network | devices | slow network"): [gains]}
