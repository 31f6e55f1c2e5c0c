"""Results as growing CSV files, whose rows are not computed again.

Lines are only appended, each as a whole, so that a stopped run leaves at most one incomplete line, which the next
run drops. Of two lines with one key the later one counts.
"""

import csv
import threading


class Store:
    """Rows by key. Any thread may add rows."""

    def __init__(self, path, key_columns, value_columns):
        self.path = path
        self.key_columns, self.columns = key_columns, key_columns + value_columns
        self.rows = {}
        self.has_header = False
        self.lock = threading.Lock()
        if path.exists():
            self._load()

    def _load(self):
        text = self.path.read_text()
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            self.path.write_text(whole)
        if not whole:
            return
        reader = csv.DictReader(whole.splitlines())
        if reader.fieldnames != list(self.columns):
            raise SystemExit(f"{self.path}: other columns than {','.join(self.columns)}; move it away")
        self.has_header = True
        for row in reader:
            self.rows[self._key(row)] = row

    def _key(self, row):
        return tuple(str(row[column]) for column in self.key_columns)

    def has(self, **key):
        return self._key(key) in self.rows

    def get(self, **key):
        return self.rows.get(self._key(key))

    def add(self, rows):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.lock, self.path.open("a", newline="") as file:
            writer = csv.DictWriter(file, self.columns, lineterminator="\n")
            if not self.has_header:
                writer.writeheader()
                self.has_header = True
            for row in rows:
                row = {column: str(row.get(column, "")) for column in self.columns}
                writer.writerow(row)
                self.rows[self._key(row)] = row
