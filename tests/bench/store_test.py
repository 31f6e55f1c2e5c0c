"""bench/study/store.py: files that grow, survive a torn line and never repeat a key."""

import threading
import unittest

from store import Store
from support import FolderTest


class StoreTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "below" / "results.csv"

    def open(self):
        return Store(self.path, ("network", "pixels"), ("ms", "note"))

    def test_makes_no_file_before_there_is_a_row(self):
        self.open()
        self.assertFalse(self.path.exists())

    def test_rows_are_appended_as_whole_lines_below_one_header(self):
        store = self.open()
        store.add([{"network": "a", "pixels": 8, "ms": 1.5, "note": "x,y"}])
        store.add([{"network": "a", "pixels": 16, "ms": 2}, {"network": "b", "pixels": 8, "ms": 3}])
        self.open().add([{"network": "b", "pixels": 16, "ms": 4, "other": "not a column"}])
        self.assertEqual(self.path.read_text(), 'network,pixels,ms,note\na,8,1.5,"x,y"\na,16,2,\nb,8,3,\nb,16,4,\n')

    def test_finds_by_key_whatever_its_type_and_again_after_reading(self):
        first = self.open()
        first.add([{"network": "a", "pixels": 8, "ms": 1.5, "note": "x"}])
        for store in (first, self.open()):
            self.assertTrue(store.has(network="a", pixels=8))
            self.assertTrue(store.has(network="a", pixels="8"))
            self.assertFalse(store.has(network="a", pixels=16))
            self.assertEqual(store.get(network="a", pixels=8)["ms"], "1.5")
            self.assertIsNone(store.get(network="b", pixels=8))

    def test_a_torn_last_line_is_dropped_from_the_file_too(self):
        self.open().add([{"network": "a", "pixels": 8, "ms": 1, "note": ""}])
        whole = self.path.read_text()
        self.path.write_text(whole + "a,16,2")
        store = self.open()
        self.assertFalse(store.has(network="a", pixels=16))
        self.assertEqual(self.path.read_text(), whole)
        store.add([{"network": "a", "pixels": 16, "ms": 3}])
        self.assertEqual(self.path.read_text(), whole + "a,16,3,\n")

    def test_a_torn_header_or_first_row_leaves_one_header(self):
        for left in ("network,pix", "network,pixels,ms,note\n", "network,pixels,ms,note\na,1"):
            with self.subTest(left=left):
                self.path.parent.mkdir(exist_ok=True)
                self.path.write_text(left)
                self.open().add([{"network": "a", "pixels": 8, "ms": 1}])
                self.assertEqual(self.path.read_text(), "network,pixels,ms,note\na,8,1,\n")
                self.assertEqual(len(self.open().rows), 1)

    def test_other_columns_are_refused_with_the_remedy_and_stay(self):
        self.path.parent.mkdir()
        for header in ("network,pixels,ms\n", "network,pixels,note,ms\n", "network,pixels,ms,note,more\n"):
            with self.subTest(header=header):
                self.path.write_text(header)
                with self.assertRaisesRegex(SystemExit, "other columns than network,pixels,ms,note; move it away"):
                    self.open()
                self.assertEqual(self.path.read_text(), header)

    def test_a_key_stands_once_and_its_later_line_holds(self):
        store = self.open()
        store.add([{"network": "a", "pixels": 8, "ms": 1}, {"network": "a", "pixels": 16, "ms": 2}])
        store.add([{"network": "a", "pixels": 8, "ms": 9}])
        for each in (store, self.open()):
            self.assertEqual({key: row["ms"] for key, row in each.rows.items()}, {("a", "8"): "9", ("a", "16"): "2"})

    def test_threads_may_add(self):
        store = self.open()
        threads = [threading.Thread(target=lambda name=name: [
            store.add([{"network": name, "pixels": i, "ms": i}]) for i in range(50)]) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(self.open().rows), 200)
        self.assertEqual(self.path.read_text().count("network,"), 1)


if __name__ == "__main__":
    unittest.main()
