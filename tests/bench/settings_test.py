"""bench/study/hios/settings.py: the points of figures 7 to 11, as the HIOS paper has them."""

import unittest

from settings import FIGURES, SEEDS, STREAMS, Setting, all_settings

DEFAULT = Setting(devices=4, n=200, edges=400, layers=14, p=0.8)


class SettingsTest(unittest.TestCase):
    def points(self, number):
        figure = next(figure for figure in FIGURES if figure.number == number)
        settings = list(figure.settings())
        for value, setting in zip(figure.values, settings):
            self.assertEqual(getattr(setting, figure.axis), value)
        return [(s.devices, s.n, s.edges, s.layers, s.p) for s in settings]

    def test_protocol(self):
        self.assertEqual((SEEDS, STREAMS), (30, 8))
        self.assertEqual([figure.number for figure in FIGURES], [7, 8, 9, 10, 11])
        self.assertEqual(Setting(), DEFAULT)

    def test_a_figure_varies_one_thing(self):
        self.assertEqual(self.points(7), [(m, 200, 400, 14, 0.8) for m in (2, 4, 6, 8, 10, 12)])
        self.assertEqual(self.points(9), [(4, 200, edges, 14, 0.8) for edges in (400, 450, 500, 550, 600)])
        self.assertEqual(self.points(10), [(4, 200, 400, layers, 0.8) for layers in (6, 10, 14, 18, 22)])
        self.assertEqual(self.points(11), [(4, 200, 400, 14, p) for p in (0.4, 0.6, 0.8, 1.0, 1.2)])

    def test_edges_are_twice_the_operators(self):
        self.assertEqual(self.points(8), [(4, n, 2 * n, 14, 0.8) for n in (100, 150, 200, 250, 300, 350, 400)])

    def test_the_figures_share_their_default(self):
        for figure in FIGURES:
            self.assertIn(DEFAULT, list(figure.settings()), figure.number)
        settings = all_settings()
        self.assertEqual(len(settings), len(set(settings)))
        self.assertEqual(len(settings), 6 + 7 + 5 + 5 + 5 - 4)
        self.assertEqual(set(settings), {setting for figure in FIGURES for setting in figure.settings()})

    def test_words_for_the_program(self):
        self.assertEqual(DEFAULT.random_keys(7), "n=200,edges=400,layers=14,p=0.8,seed=7")


if __name__ == "__main__":
    unittest.main()
