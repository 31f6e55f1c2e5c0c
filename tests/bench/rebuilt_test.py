"""bench/study/hios/rebuilt.py on networks of a few operators. levels_test.py compares it with hios-schedule."""

import unittest

from rebuilt import longest_path, map_longest_paths, merge_windows, operators_in_order
from rules import PAPER, PUBLISHED, Network

# Three paths from v0 to v5: by v1 and v3, by v2 and v4, and by v2 and v3.
PATHS = Network(times_ms=[1, 5, 3, 5, 3, 1], utilizations=[1] * 6,
                inputs=[[], [(0, 1)], [(0, 1)], [(1, 1), (2, 1)], [(2, 1)], [(3, 1), (4, 1)]])


class PathsTest(unittest.TestCase):
    def test_the_longest_path_counts_operators_and_transfers(self):
        order = operators_in_order(PATHS, PAPER)
        self.assertEqual(order, [0, 1, 2, 3, 4, 5])
        self.assertEqual(longest_path(PATHS, order, set(), any_paths=False), [0, 1, 3, 5])
        self.assertEqual(longest_path(PATHS, order, {0, 1, 3, 5}, any_paths=False), [2, 4])

    def test_a_valid_path_ends_at_an_operator_with_a_mapped_neighbour(self):
        """v3 writes to v4, which is mapped, so only a path that may go on leads through it."""
        chain = Network([1] * 7, [1] * 7, [[], [], [(1, 1)], [(2, 1)], [(0, 1), (3, 1)], [(3, 1)], [(5, 1)]])
        order = list(range(7))
        self.assertEqual(longest_path(chain, order, {0, 4}, any_paths=True), [1, 2, 3, 5, 6])
        self.assertEqual(longest_path(chain, order, {0, 4}, any_paths=False), [1, 2, 3])

    def test_priorities_are_the_lengths_of_the_rest(self):
        """v1's rest is longer than v0's, though its id is larger."""
        network = Network([1, 9], [1, 1], [[], []])
        self.assertEqual(operators_in_order(network, PAPER), [1, 0])
        self.assertEqual(operators_in_order(network, PUBLISHED), [0, 1])

    def test_the_rule_decides_the_device(self):
        """The longest path, v0 and v2, goes to device 0 and ends at 10; v1 goes to device 1. v3 reads v0: on device 1 it
        starts at 4.1 by the paper's rule, but by the other after v2, at 10.1, later than on device 0."""
        network = Network([4, 3, 6, 2], [1] * 4, [[], [], [(0, 0.1)], [(0, 0.1)]])
        by_paper = map_longest_paths(network, 2, PAPER, any_paths=True)
        by_published = map_longest_paths(network, 2, PUBLISHED, any_paths=True)
        self.assertEqual({groups[0][0]: device for device, groups in by_paper}, {0: 0, 2: 0, 1: 1, 3: 1})
        self.assertEqual({groups[0][0]: device for device, groups in by_published}, {0: 0, 2: 0, 1: 1, 3: 0})


class WindowsTest(unittest.TestCase):
    def test_two_operators_that_overlap_become_a_stage(self):
        network = Network([2, 2], [0.5, 0.5], [[], []])
        self.assertEqual(merge_windows(network, [(0, [[0]]), (0, [[1]])]), [(0, [[0], [1]])])

    def test_nothing_is_merged_without_a_gain_or_against_an_edge_or_beyond_the_window(self):
        stages = [(0, [[v]]) for v in range(3)]
        self.assertEqual(merge_windows(Network([2] * 3, [1] * 3, [[], [], []]), stages), stages)
        self.assertEqual(merge_windows(Network([2] * 3, [0.2] * 3, [[], [(0, 1)], [(1, 1)]]), stages), stages)
        self.assertEqual(merge_windows(Network([2] * 3, [0.2] * 3, [[], [], []]), stages, window=2),
                         [(0, [[0], [1]]), (0, [[2]])])

    def test_the_best_window_is_kept(self):
        network = Network([2] * 4, [0.2] * 4, [[]] * 4)
        self.assertEqual(merge_windows(network, [(0, [[v]]) for v in range(4)], window=3),
                         [(0, [[0], [1], [2]]), (0, [[3]])])


if __name__ == "__main__":
    unittest.main()
