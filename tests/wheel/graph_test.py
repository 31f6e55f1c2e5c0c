"""Graphs from networkx and lists: what they hold, and bad input, each by the operator or the edge."""

import copy
import pickle
import tempfile
import unittest
import warnings
from pathlib import Path

import networkx as nx
import numpy
from support import Refusals, diamond

import hios


def chain(**attributes):
    G = nx.DiGraph()
    G.add_node("a", weight=1)
    G.add_node("b", weight=2.5)
    G.add_edge("a", "b", weight=0.5)
    for name, value in attributes.items():
        G.nodes["b"][name] = value
    return G


class GraphTest(Refusals):
    def test_networkx_and_lists_give_one_graph(self):
        G = nx.DiGraph(name="diamond")
        G.add_nodes_from([("a", {"weight": 1}), ("b", {"weight": 3}), ("c", {"weight": 2.5}), ("d", {"weight": 1})])
        G.add_weighted_edges_from([("a", "b", 0.4), ("a", "c", 0.4), ("b", "d", 0.4), ("c", "d", 0.4)])
        one, other = hios.Graph.from_networkx(G), diamond()
        self.assertEqual((one.name, one.digest, one.operators, one.edges), (other.name, other.digest, other.operators, other.edges))
        self.assertEqual(len(one), 4)
        self.assertEqual(one.topological()[0], "a")

    def test_arguments_of_other_types_are_one_line(self):
        g = hios.Graph.from_networkx(chain())
        s = hios.schedule(g, 2, "heft")
        for named, function, arguments, keywords in (
                ("kind: 3", hios.Platform.alike, (2,), {"kind": 3}), ("contention: 5", hios.Platform.alike, (2,), {"contention": 5}),
                ("parameters: 5", hios.Graph.random, (5,), {}), ("the graph's name: 5", hios.Graph.from_lists, ([("a", 1)], []), {"name": 5}),
                ("lists of operators", hios.Graph.from_lists, (5, []), {}), ("edge ", hios.Graph.from_lists, ([("a", 1)], [([], "a", 1)]), {}),
                ("a character", hios.Graph.from_lists, ([("a\ud800", 1)], []), {}), ("a character", hios.Graph.from_lists, ([("a\0", 1)], []), {}),
                ("a character", hios.Graph.from_lists, ([("a\x85", 1)], []), {}), ("name of 1 to", hios.Graph.from_lists, ([("", 1)], []), {}),
                ("name of 1 to", hios.Graph.from_lists, ([("é" * 40_000, 1)], []), {}), ("the graph's name: ''", hios.Graph.from_lists, ([("a", 1)], []), {"name": ""}),
                ("kind: ''", hios.Platform.alike, (2,), {"kind": ""}),
                ("operator's name: 'a\\nb'", hios.Graph.from_lists, ([("a\nb", 1)], []), {}),
                ("kind: 'x\\ny'", hios.Platform.alike, (2,), {"kind": "x\ny"}), ("gb_per_s is 1e-12", hios.Platform.alike, (2,), {"gb_per_s": "1e-12"}),
                ("the file: 3", hios.compare(g, ["heft"]).to_csv, (3,), {}),
                ("no scheduler is named", hios.schedule, (g, 2, ["best"]), {}), ("its options are 5", hios.schedule, (g, 2, "heft"), {"options": 5}),
                ("no scheduler is named", hios.compare, (g, 5), {}), ("devices is None", hios.compare, (g, ["heft"], None), {}),
                ("its options are 3", hios.compare, (g, ["heft"]), {"options": {"heft": 3}}), ("the file: 5", hios.read, (5,), {}),
                ("the file: b'x.dot'", hios.read, (b"x.dot",), {}), ("the file: None", s.save, (None,), {}),
                ("no stage runs 'zz'", s.timeline().times_of, ("zz",), {}), ("time is []", hios.Graph.from_networkx, (chain(), []), {}),
                ("by time=", hios.Graph.from_networkx, (chain(), None), {}), ("takes a networkx graph", hios.Graph.from_networkx, (nx.DiGraph,), {}),
                ("no operator '[]'", g.index, ([],), {}), ("comes from", hios.Schedule, (3, 4), {}), ("axes of Matplotlib", s.plot, (3,), {}),
                ("device: 2: a whole number from 0 to 1", hios.Problem(g, 2).time_ms, ("a", 2), {}),
                ("no operator '[]'", hios.Problem(g, 2).transfer_ms, ([], "a", 0, 1), {})):
            with self.subTest(named):
                self.refused(named, function, *arguments, **keywords)
        self.assertEqual(len(hios.Platform.alike(numpy.int64(3))), 3)
        self.assertEqual(hios.schedule(g, numpy.int64(2), "heft", seed=numpy.uint8(1)).latency_ms, s.latency_ms)
        self.assertEqual(hios.Problem(g, 2).time_ms("b", numpy.int64(1)), 2.5)

    def test_parallel_edges_are_kept(self):
        for added, longest in ((0.25, 0.5), (0.75, 0.75)):
            G = nx.MultiDiGraph(chain())
            G.add_edge("a", "b", weight=added)
            g = hios.Graph.from_networkx(G)
            self.assertEqual(g.edges, (("a", "b"), ("a", "b")))
            apart = hios.simulate(g, [["a"], ["b"]], 2)
            self.assertEqual(len(apart.transfers), 1)
            self.assertEqual(apart.latency_ms, 1 + longest + 2.5)
            self.assertEqual(hios.Problem(g, 2).transfer_ms("a", "b", 0, 1), longest)

    def test_graphs_platforms_and_problems_are_pickled(self):
        graph, platform = hios.Graph.random("n=50,edges=100,layers=7,seed=3"), hios.Platform.alike(3, streams=2, gb_per_s=4)
        g, p = pickle.loads(pickle.dumps((graph, platform)))
        self.assertEqual((g.name, g.digest, g.operators, g.edges), (graph.name, graph.digest, graph.operators, graph.edges))
        self.assertEqual((p.devices, p.streams), (platform.devices, platform.streams))
        self.assertEqual(hios.schedule(g, p, "heft").latency_ms, hios.schedule(graph, platform, "heft").latency_ms)
        self.assertEqual(hios.simulate(g, [g.topological()], 1).latency_ms, hios.simulate(graph, [graph.topological()], 1).latency_ms)
        again = copy.deepcopy(hios.Problem(graph, platform))
        self.assertEqual(again.transfer_ms(*graph.edges[0], 0, 2), hios.Problem(graph, platform).transfer_ms(*graph.edges[0], 0, 2))

    def test_bytes_need_a_link(self):
        G = chain()
        G.edges["a", "b"]["size"] = 4_000_000
        g = hios.Graph.from_networkx(G, transfer=None, bytes="size")
        self.refused("b", hios.schedule, g, 2, "heft")
        platform = hios.Platform.alike(2, gb_per_s=4, latency_ms=0.125)
        self.assertEqual(hios.simulate(g, [["a"], ["b"]], platform).latency_ms, 1 + 1 + 0.125 + 2.5)

    def test_names_that_are_no_strings_become_strings_with_a_warning(self):
        G = nx.DiGraph()
        G.add_node(1, weight=1)
        G.add_node((2, 3), weight=1)
        with self.assertWarnsRegex(hios.HiosWarning, "^2 of 2 operators have names that are no strings, such as 1: ") as caught:
            self.assertEqual(hios.Graph.from_networkx(G).operators, ("1", "(2, 3)"))
        self.assertEqual(caught.filename, __file__)  # the line of the caller
        G.add_node("1", weight=1)
        self.refused("two operators are named '1'", hios.Graph.from_networkx, G)

    def test_texts_count_as_the_numbers_in_them(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            g = hios.Graph.from_networkx(chain(weight=' "2.5" '))
        self.assertEqual(hios.simulate(g, [["a", "b"]], 1).latency_ms, 3.5)

    def test_bad_weights_are_named(self):
        for value, text in ((-1, "operator 'b': its weight is -1: a number from 0 to 1e+09"), (float("nan"), "its weight is nan"),
                            (float("inf"), "its weight is inf"), ("fast", "its weight is 'fast', which is no number"),
                            (None, "is None, which is no number"), (True, "is True, which is no number"), (10**400, "no number")):
            with self.subTest(value=str(value)[:9]):
                self.refused(text, hios.Graph.from_networkx, chain(weight=value))
        G = chain()
        G.edges["a", "b"]["weight"] = -0.5
        self.refused("edge 'a' -> 'b': its weight is -0.5", hios.Graph.from_networkx, G)

    def test_missing_attributes_are_named(self):
        G = chain()
        del G.nodes["b"]["weight"]
        self.refused("operator 'b' has no attribute 'weight', its time in ms: give it one, or name another attribute (time=…)",
                     hios.Graph.from_networkx, G)
        G = chain()
        del G.edges["a", "b"]["weight"]
        self.refused("edge 'a' -> 'b' has no attribute 'weight'", hios.Graph.from_networkx, G)
        self.refused("name an attribute by transfer= or bytes=", hios.Graph.from_networkx, chain(), transfer=None)
        self.refused("has no attribute 'memory'", hios.Graph.from_networkx, chain(), memory="memory")
        self.refused("a whole number is wanted", hios.Graph.from_networkx, nx.DiGraph(nx.subgraph(chain(m=1.5), ["b"])), memory="m")

    def test_cycles_are_named(self):
        G = chain()
        G.add_edge("b", "a", weight=1)
        self.refused("cycle", hios.Graph.from_networkx, G)
        G = chain()
        G.add_edge("b", "b", weight=1)
        self.refused("'b'", hios.Graph.from_networkx, G)

    def test_other_things_are_no_graph(self):
        self.refused("undirected", hios.Graph.from_networkx, nx.Graph())
        self.refused("has no operators", hios.Graph.from_networkx, nx.DiGraph())
        self.refused("takes a networkx graph, not [1]", hios.Graph.from_networkx, [1])
        self.refused("hios.Graph.from_networkx(G)", hios.schedule, chain())
        self.refused("not 3", hios.schedule, 3)
        self.refused("comes from", hios.Graph, 3)

    def test_lists_are_checked(self):
        self.refused("(name, time in ms) is wanted", hios.Graph.from_lists, ["a"], [])
        self.refused("(from, to, time in ms) is wanted", hios.Graph.from_lists, [("a", 1)], [("a", "a")])
        self.refused("no operator is named 'x'", hios.Graph.from_lists, [("a", 1)], [("a", "x", 1)])
        self.refused("'a'", hios.Graph.from_lists, [("a", 1), ("a", 2)], [])
        self.refused("its time is -1", hios.Graph.from_lists, [("a", -1)], [])

    def test_names_stay_on_their_line(self):
        G = nx.DiGraph()
        G.add_node("a\nb" + "x" * 99)
        self.refused(r"operator 'a\nbxxx", hios.Graph.from_networkx, G)

    def test_a_hundred_thousand_operators_cross_the_border(self):
        G = nx.DiGraph()
        G.add_nodes_from((f"v{i}", {"weight": 1.0}) for i in range(100_000))
        G.add_edges_from((f"v{i}", f"v{j}", {"weight": 0.5}) for i in range(100_000) for j in (i + 1, i + 7) if j < 100_000)
        g = hios.Graph.from_networkx(G)
        s = hios.schedule(g, 1, "sequential")
        self.assertEqual(s.latency_ms, 100_000)
        self.assertEqual(len(s.timeline().stages), 100_000)

    def test_a_file_of_its_own_is_not_replaced(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "graph.json"
            diamond().save(file)
            self.assertEqual(hios.read(file).digest, diamond().digest)
            self.refused(str(file), diamond().save, file)
            diamond().save(file, force=True)


if __name__ == "__main__":
    unittest.main()
