"""Files of graphs, platforms and schedules; files that are none."""

import json
import tempfile
import unittest
from pathlib import Path

import networkx as nx
from support import Refusals, diamond

import hios

GRAPHML = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="t" for="node" attr.name="ms" attr.type="double"/><key id="x" for="edge" attr.name="ms" attr.type="double"/>
<graph edgedefault="directed"><node id="a"><data key="t">1.5</data></node><node id="b"><data key="t">2</data></node>
<edge source="a" target="b"><data key="x">0.25</data></edge></graph></graphml>"""
DOT = 'digraph "net" { a [ms="1.5"]; b [ms=2]; a -> b [ms=0.25]; }'


class ReadingTest(Refusals):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def file(self, name, content):
        path = self.folder / name
        path.write_text(content)
        return path

    def test_graphml_dot_and_node_link_json_are_one_graph(self):
        G = nx.DiGraph()
        G.add_node("a", ms=1.5)
        G.add_node("b", ms=2)
        G.add_edge("a", "b", ms=0.25)
        files = [self.file("net.graphml", GRAPHML), self.file("net.dot", DOT), self.file("net.gv", DOT),
                 self.file("net.json", json.dumps(nx.node_link_data(G, edges="links"))),
                 self.file("other.json", json.dumps(nx.node_link_data(G, edges="edges")))]
        for file in files:
            with self.subTest(file.name):
                g = hios.read(file, time="ms", transfer="ms")
                self.assertEqual((g.operators, g.edges), (("a", "b"), (("a", "b"),)))
                self.assertEqual(hios.simulate(g, [["a"], ["b"]], 2).latency_ms, 3.75)

    def test_dot_has_graphs_in_graphs_and_defaults(self):
        g = hios.read(self.file("net.dot", """digraph n {
            node [shape=box]; node [ms=1]; edge [ms=0.5];
            subgraph cluster_0 { node [ms=3]; a; b [ms=2]; a -> b [ms=0.25]; subgraph { d } }
            c; b -> c; d -> e; {a d} -> f }"""), time="ms", transfer="ms")
        edges = {("a", "b"): 0.25, ("b", "c"): 0.5, ("d", "e"): 0.5, ("a", "f"): 0.5, ("d", "f"): 0.5}
        self.assertEqual(set(g.edges), set(edges))
        self.assertEqual(g.name, "n")
        problem = hios.Problem(g, 2)
        self.assertEqual({name: problem.time_ms(name) for name in g.operators}, {"a": 3, "b": 2, "c": 1, "d": 3, "e": 1, "f": 1})
        self.assertEqual({edge: problem.transfer_ms(*edge, 0, 1) for edge in edges}, edges)
        in_order = hios.read(self.file("order.dot", """digraph { edge [weight=0.5]; node [weight=1]; a:n -> "b":s; edge [weight=0.7];
            subgraph { node [weight=3]; c; } node [weight=2]; {b c} -> d; }"""))
        problem = hios.Problem(in_order, 2)
        self.assertEqual([problem.time_ms(name) for name in "abcd"], [1, 1, 3, 2])
        self.assertEqual([problem.transfer_ms(*edge, 0, 1) for edge in (("a", "b"), ("b", "d"), ("c", "d"))], [0.5, 0.7, 0.7])
        self.refused("operator 'a' has no attribute", hios.read, self.file("late.dot", "digraph { a; node [weight=1]; b; }"))
        self.refused("holds 2 graphs", hios.read, self.file("two.dot", DOT + DOT), time="ms", transfer="ms")

    def test_graphml_without_a_namespace_is_read(self):
        bare = GRAPHML.replace(' xmlns="http://graphml.graphdrawing.org/xmlns"', "")
        self.assertEqual(hios.read(self.file("bare.graphml", bare), time="ms", transfer="ms").operators, ("a", "b"))

    def test_defaults_of_graphml_hold(self):
        text = GRAPHML.replace('type="double"/><key', 'type="double"><default>7</default></key><key')
        g = hios.read(self.file("net.graphml", text.replace('<data key="t">2</data>', "")), time="ms", transfer="ms")
        self.assertEqual([hios.Problem(g, 1).time_ms(name) for name in "ab"], [1.5, 7])

    def test_files_of_several_graphs_are_refused(self):
        graph = GRAPHML[GRAPHML.index("<graph "):GRAPHML.index("</graph>")] + "</graph>"
        two = GRAPHML.replace(graph, graph + graph)
        self.refused("holds 2 graphs", hios.read, self.file("two.graphml", two), time="ms", transfer="ms")
        inner = GRAPHML.replace("</graph>", f'<node id="c">{graph}</node></graph>', 1)
        self.refused("holds 2 graphs", hios.read, self.file("inner.graphml", inner), time="ms", transfer="ms")
        group = '<node id="c" yfiles.foldertype="group"><data key="t">3</data><graph edgedefault="directed"><node id="d"><data key="t">4'
        whole = GRAPHML.replace("</graph>", group + "</data></node></graph></node></graph>", 1)
        self.assertEqual(hios.read(self.file("group.graphml", whole), time="ms", transfer="ms").operators, ("a", "b", "c", "d"))

    def test_node_link_json_without_its_keys_is_refused(self):
        for text, named in (('{"nodes": [{"id": 1}]}', 'neither "edges" nor "links"'), ('{"nodes": [{}], "directed": true, "links": [{}]}', "lacks 'source'")):
            self.refused(named, hios.read, self.file("net.json", text))

    def test_files_of_hios(self):
        diamond().save(self.folder / "graph.json")
        g = hios.read(self.folder / "graph.json")
        self.assertEqual(g.digest, diamond().digest)
        hios.Platform.alike(3, streams=2).save(self.folder / "platform.json")
        platform = hios.read(self.folder / "platform.json")
        self.assertEqual((platform.devices, platform.streams), (["cpu0", "cpu1", "cpu2"], [2, 2, 2]))
        s = hios.schedule(g, platform, "heft")
        s.save(self.folder / "schedule.json")
        read = hios.read(self.folder / "schedule.json", graph=g)
        self.assertEqual((read.stages, read.latency_ms, read.algorithm, read.gap), (s.stages, s.latency_ms, "heft", s.gap))
        self.assertEqual(hios.simulate(g, read, platform).latency_ms, s.latency_ms)
        self.assertEqual(hios.validate(g, s, 2)[0].device, None)
        broken = json.loads((self.folder / "schedule.json").read_text())
        broken["devices"][0]["stages"] = []
        self.refused("broken.json: the schedule breaks a rule", hios.read, self.file("broken.json", json.dumps(broken)), graph=g)
        self.refused("graph=g", hios.read, self.folder / "schedule.json")
        self.refused("digest", hios.read, self.folder / "schedule.json", graph=hios.Graph.from_lists([("z", 1)], []))
        self.refused("3 devices, and 2 are given", hios.read, self.folder / "schedule.json", graph=g, devices=2)

    def test_bad_files_are_named(self):
        cases = {"a.txt": ("", "must end in"), "a.json": ("{", "a.json"), "b.json": ("[]", "neither"),
                 "c.json": ('{"format": "hios-model", "version": 1}', "--export-graph"), "d.json": ('{"format": "x"}', "the format x"),
                 "e.json": ('{"format": "hios-graph", "version": 1}', "$"), "a.graphml": ("<graphml", "a.graphml: cannot be read"),
                 "b.graphml": (GRAPHML.replace("edgedefault=\"directed\"", "edgedefault=\"undirected\""), "b.graphml: the graph is undirected"),
                 "a.dot": ("digraph {", "a.dot"), "b.dot": ("graph { a -- b }", "b.dot"), "f.json": ('{"nodes": [{}]}', "f.json")}
        for name, (content, text) in cases.items():
            with self.subTest(name):
                self.refused(text, hios.read, self.file(name, content))
        self.refused("missing.dot: cannot be read", hios.read, self.folder / "missing.dot")
        self.refused("missing.json", hios.read, self.folder / "missing.json")
        self.refused("net.dot: operator 'a' has no attribute 'weight'", hios.read, self.file("net.dot", DOT))


if __name__ == "__main__":
    unittest.main()
