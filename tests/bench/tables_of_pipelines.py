"""The tables of pipelines, from networks.csv and regal.csv in bench/results/pipelines."""

import pipeline_tables
from markdown_tables import RESULTS, rows_in, tables_in

FOLDER = RESULTS / "pipelines"


def bounds(part):
    """The page's copy of Table 1 or 3, with three digits."""
    return rows_in(pipeline_tables.bounds_table(pipeline_tables.Answers(FOLDER, part), pipeline_tables.PAPER[part], "bound", 3))


def tables_under(head):
    return [lambda table=table: table.rows for table in tables_in(pipeline_tables.page(FOLDER))
            if table.head[0] == head]


HEADS = ("bound / brkga-10000 (paper)", "period / simple (paper)", "mean seconds")
RECOMPUTED = {
    ("docs/throughput.md", "bound / brkga-10000, our networks | k = 2 | k = 4"): [lambda: bounds("networks")],
    ("docs/throughput.md", "bound / brkga-10000, random graphs | k = 2 | k = 4"): [lambda: bounds("regal")],
    **{("bench/results/pipelines/tables.md", f"{head} | k = 2 | k = 4"): tables_under(head) for head in HEADS},
}
