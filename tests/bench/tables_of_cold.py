"""The tables of cold starts of decoders, from cold-*.csv in bench/results/study."""

import cold_tables
from markdown_tables import RESULTS, tables_in

PAGES = ("docs/cold-start.md", f"bench/results/study/{cold_tables.FILE}")


def recomputed():
    found = {}
    for text in cold_tables.tables(RESULTS / "study").values():
        (table,) = tables_in(text)
        found.update({(page, table.key()[1]): [lambda rows=table.rows: rows] for page in PAGES})
    return found


RECOMPUTED = recomputed()
