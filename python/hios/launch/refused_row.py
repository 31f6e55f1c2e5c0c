"""The row of a Python scheduler without a schedule, in the results of a comparison that hios-schedule wrote."""

import csv
import io
import json
from pathlib import Path

from hios.files import written_whole

# Columns that say of all rows of a comparison what was compared.
SHARED = ("devices", "graph", "graph_digest", "operators", "edges", "seed", "arguments", "hios", "commit", "format", "version")


def add(results, name, devices, reason):
    """Adds the row to the files of these words (--json FILE, --csv FILE); standard output is as the program wrote it."""
    for flag, file in zip(results[::2], results[1::2]):
        if flag in WITH_ROW and Path(file).is_file():
            text = WITH_ROW[flag](Path(file).read_text(), name, devices, reason)
            with written_whole(file) as part:
                part.write_text(text)


def _json(text, name, devices, reason):
    data = json.loads(text)
    data["comparison"].append({"algorithm": name, "devices": devices, "refused": reason})
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _csv(text, name, devices, reason):
    rows = list(csv.DictReader(io.StringIO(text)))
    own = dict.fromkeys(rows[0], "") | {key: rows[0][key] for key in SHARED}
    made = io.StringIO()
    writer = csv.DictWriter(made, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows([*rows, {**own, "algorithm": name, "devices": devices, "refused": reason}])
    return made.getvalue()


WITH_ROW = {"--json": _json, "--csv": _csv}
