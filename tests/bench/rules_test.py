"""bench/study/hios/rules.py: both rules on schedules that are computed by hand."""

import unittest

from rules import PAPER, PUBLISHED, Network, latency_ms, order_of_ids, read_network, read_stages

# v0 -> v1 -> v3 and v0 -> v2 -> v3; v0 and v1 are on device 0, v2 and v3 on device 1.
DIAMOND = Network(times_ms=[1, 10, 6, 1], utilizations=[1] * 4,
                  inputs=[[], [(0, 0.5)], [(0, 0.5)], [(1, 3), (2, 2)]])
TWO_DEVICES = [(0, [[0]]), (0, [[1]]), (1, [[2]]), (1, [[3]])]


class LatencyTest(unittest.TestCase):
    def test_the_papers_consumer_waits_for_its_producer(self):
        """v0 ends at 1, v1 at 11; v2 starts at 1 + 0.5 and ends at 7.5; v3 starts at 11 + 3."""
        self.assertEqual(latency_ms(DIAMOND, TWO_DEVICES, PAPER), 15)

    def test_the_evaluators_consumer_waits_for_the_clock_of_its_producers_device(self):
        """v0 ends at 1, v1 at 11; v2 starts at 11 + 0.5, for v1 is on its producer's device, and ends at 17.5."""
        self.assertEqual(latency_ms(DIAMOND, TWO_DEVICES, PUBLISHED), 18.5)

    def test_the_evaluators_clock_is_that_of_operators_with_smaller_ids(self):
        """v2 comes before v1 here: v0 ends at 1, v2 at 7.5, v1 at 11; v3 starts at 11 + 3."""
        swapped = Network([1, 6, 10, 1], [1] * 4, [[], [(0, 0.5)], [(0, 0.5)], [(2, 3), (1, 2)]])
        stages = [(0, [[0]]), (0, [[2]]), (1, [[1]]), (1, [[3]])]
        self.assertEqual(latency_ms(swapped, order_of_ids(swapped, stages), PUBLISHED), 15)

    def test_on_one_device_both_are_the_sum(self):
        stages = [(0, [[v]]) for v in range(4)]
        for rule in (PAPER, PUBLISHED):
            self.assertEqual(latency_ms(DIAMOND, stages, rule), 18)

    def test_a_stage_costs_what_overlaps(self):
        """Half of 10 + 6, and half of the larger of the load 0.5 x 16 and the longest group; groups in a row cost 16."""
        network = Network([1, 10, 6, 1], [0.5] * 4, DIAMOND.inputs)
        self.assertEqual(network.stage_ms([[1], [2]]), 8 + 5)
        self.assertEqual(network.stage_ms([[1, 2]]), 16)
        stages = [(0, [[0]]), (0, [[1], [2]]), (0, [[3]])]
        self.assertEqual(latency_ms(network, stages, PAPER), 1 + 13 + 1)


class OrderTest(unittest.TestCase):
    def test_ids_decide_unless_the_devices_order_is_kept(self):
        network = Network([1] * 3, [1] * 3, [[], [], []])
        stages = [(0, [[2]]), (0, [[0]]), (1, [[1]])]
        self.assertEqual(order_of_ids(network, stages), [(0, [[0]]), (1, [[1]]), (0, [[2]])])
        self.assertEqual(order_of_ids(network, stages, keep_order=True), [(1, [[1]]), (0, [[2]]), (0, [[0]])])

    def test_a_stage_comes_after_those_that_it_reads_from(self):
        """The stage of v0 and v2 would be first, but v2 reads v1."""
        network = Network([1] * 3, [1] * 3, [[], [], [(1, 1)]])
        self.assertEqual(order_of_ids(network, [(0, [[0], [2]]), (1, [[1]])]), [(1, [[1]]), (0, [[0], [2]])])

    def test_stages_that_wait_for_each_other_have_none(self):
        network = Network([1] * 4, [1] * 4, [[], [(0, 1)], [], [(2, 1)]])
        self.assertIsNone(order_of_ids(network, [(0, [[0], [3]]), (1, [[1], [2]])]))

    def test_a_group_is_a_chain_and_groups_are_not(self):
        network = Network([1] * 2, [1] * 2, [[], [(0, 1)]])
        self.assertEqual(order_of_ids(network, [(0, [[0, 1]])]), [(0, [[0, 1]])])
        self.assertIsNone(order_of_ids(network, [(0, [[0], [1]])]))


class FilesTest(unittest.TestCase):
    def test_reads_both_files(self):
        graph = {"operators": [{"name": "a", "time_ms": 1, "utilization": 0.7}, {"name": "b", "time_ms": 2, "utilization": 1}],
                 "edges": [{"from": "a", "to": "b", "bytes": 0, "transfer_ms": 0.8}],
                 "stage_cost": {"kind": "overlap", "weight": 0.25}}
        self.assertEqual(read_network(graph), Network([1, 2], [0.7, 1], [[], [(0, 0.8)]], 0.25))
        schedule = {"devices": [{"stages": []}, {"stages": [[["b"]], [["a"]]]}]}
        self.assertEqual(read_stages(graph, schedule), [(1, [[1]]), (1, [[0]])])


if __name__ == "__main__":
    unittest.main()
