"""Ctrl-C keeps the best result so far, and Python's other threads run while C++ searches."""

import os
import signal
import threading
import time
import unittest
import warnings

from support import diamond

import hios

LARGE = "n=300,edges=700,layers=20,seed=1"


class Interrupt:
    """Presses Ctrl-C once a search is under way."""

    def __init__(self):
        self.thread = threading.Thread(target=self.press)

    def press(self):
        end = time.monotonic() + 60
        while time.monotonic() < end and not any(each.name == "hios search" for each in threading.enumerate()):
            time.sleep(0.01)
        time.sleep(0.3)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.thread.join()


class SearchTest(unittest.TestCase):
    def setUp(self):
        # A shell's background jobs ignore Ctrl-C.
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))

    def test_ctrl_c_keeps_the_best_schedule_so_far(self):
        g = hios.Graph.random(LARGE)
        with Interrupt(), self.assertWarnsRegex(hios.HiosWarning, "best result so far") as caught:
            s = hios.schedule(g, 4, "best", time_limit=300)
        self.assertEqual(caught.filename, __file__)  # the line of the caller
        self.assertTrue(s.interrupted)
        self.assertEqual(s.outcome, "time_limit")
        self.assertEqual(hios.validate(g, s, 4), [])

    def test_ctrl_c_keeps_the_rows_so_far(self):
        g = hios.Graph.random(LARGE)
        with Interrupt(), self.assertWarns(hios.HiosWarning):
            table = hios.compare(g, ["sequential", "best", "heft"], [4, 8], time_limit=300)
        self.assertTrue(table.interrupted)
        self.assertIn([row.algorithm for row in table], (["sequential", "best"], ["sequential"]))

    def test_ctrl_c_ends_a_function_that_takes_forever(self):
        def forever(problem):
            os.kill(os.getppid(), signal.SIGINT)
            time.sleep(600)

        hios.scheduler("forever")(forever)
        with self.assertWarns(hios.HiosWarning):
            table = hios.compare(diamond(), ["sequential", "forever"], 2, time_limit=600)
        self.assertEqual(table.row("forever").refused, "forever: was interrupted")

    def test_other_threads_run_meanwhile(self):
        counts = []
        stop = threading.Event()

        def count():
            steps = 0
            while not stop.is_set():
                steps += 1
                time.sleep(0)
            counts.append(steps)

        thread = threading.Thread(target=count)
        thread.start()
        hios.schedule(hios.Graph.random(LARGE), 4, "best", time_limit=0.5)
        stop.set()
        thread.join()
        self.assertGreater(counts[0], 100)

    def test_another_thread_may_search_too(self):
        found = []
        g = hios.Graph.random(LARGE)
        threads = [threading.Thread(target=lambda: found.append(hios.schedule(g, 4, "hios-lp").latency_ms)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(set(found), {hios.schedule(g, 4, "hios-lp").latency_ms})

    def test_a_result_that_is_there_is_no_interrupted_one(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertFalse(hios.schedule(diamond(), 2, "heft").interrupted)


if __name__ == "__main__":
    unittest.main()
