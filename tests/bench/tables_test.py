"""bench/study/tables.py and looks.py: how tables are written and algorithms ordered."""

import unittest

from looks import ALGORITHMS, look, ordered
from support import FolderTest
from tables import write_table


class TablesTest(FolderTest):
    def test_five_digits_for_fractions_and_a_new_file_each_time(self):
        file = self.folder / "table.csv"
        for _ in range(2):
            write_table(file, ("name", "seeds", "ms"), [{"name": "a", "seeds": 123456, "ms": 123.456789},
                                                        {"name": "b", "seeds": 1, "ms": ""}])
            self.assertEqual(file.read_text(), "name,seeds,ms\na,123456,123.46\nb,1,\n")

    def test_a_column_that_is_not_announced_is_an_error(self):
        with self.assertRaises(ValueError):
            write_table(self.folder / "table.csv", ("name",), [{"name": "a", "ms": 1}])


class LooksTest(unittest.TestCase):
    def test_known_algorithms_come_in_their_order_and_others_last(self):
        self.assertEqual(ordered({"zeta", "best", "hios-lp", "alpha", "sequential", "ios"}),
                         ["sequential", "ios", "hios-lp", "best", "alpha", "zeta"])

    def test_no_two_known_algorithms_look_alike(self):
        looks = [tuple(look(name).values()) for name in [*ALGORITHMS, "unknown"]]
        for part in zip(*looks):
            self.assertEqual(len(set(part)), len(looks))


if __name__ == "__main__":
    unittest.main()
