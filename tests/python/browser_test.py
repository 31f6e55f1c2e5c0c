"""The page in a real browser, opened from its file: drawn, hovered, zoomed, sorted, without errors and without a network.
Runs only where there is a browser that Selenium drives. HIOS_SCREENSHOTS names a folder that keeps the pictures."""

import io
import json
import os
import tempfile
import unittest
from pathlib import Path

from PIL import Image
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from page_samples import PageTest, examples, renamed, report, schedule

PATIENCE_S = 120  # on a machine that is busy with other tests
NASTY = '</script><b>"ü'
CONVOLUTION = (0x77, 0xAA, 0xDD)


def browser(folder):
    options = Options()
    options.binary_location = os.environ.get("HIOS_BROWSER", "/usr/bin/chromium")
    words = ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,1000", "--hide-scrollbars",
             "--disable-background-networking", "--disable-component-update", "--no-first-run", f"--user-data-dir={folder}"]
    for word in words + (["--no-sandbox"] if os.geteuid() == 0 else []):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = Service(os.environ.get("HIOS_BROWSER_DRIVER", "/usr/bin/chromedriver"))
    return webdriver.Chrome(service=service, options=options)


class BrowserTest(PageTest):
    @classmethod
    def setUpClass(cls):
        profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        cls.addClassCleanup(profile.cleanup)
        for attempt in range(3):  # a busy machine takes longer than the driver waits
            try:
                cls.browser = browser(f"{profile.name}/{attempt}")
                break
            except WebDriverException:
                if attempt == 2:
                    raise
        cls.addClassCleanup(cls.browser.quit)
        cls.browser.set_script_timeout(PATIENCE_S)
        cls.browser.set_page_load_timeout(PATIENCE_S)

    def open(self, *files):
        output = self.folder / "report.html"
        self.assertEqual(self.command(*files, "-o", str(output), "--force")[0], 0)
        for log in ("browser", "performance"):
            self.browser.get_log(log)
        self.browser.get(output.as_uri())
        self.until(lambda: self.browser.execute_script("return document.documentElement.dataset.ready") == "yes")
        return output

    def until(self, holds):
        return WebDriverWait(self.browser, PATIENCE_S).until(lambda _: holds())

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def emulate(self, command, **settings):
        self.browser.execute_cdp_cmd(f"Emulation.{command}", settings)

    def summary(self):
        """A summary of two rows with their reports."""
        summary = examples()["summary"]
        first, second = renamed(report(), {"conv_2": NASTY}), report(algorithm="sequential")
        second["latency_ms"] = {**first["latency_ms"], "best_quarter": 2.7, "median": 2.8, "p95": 3.0}
        summary["rows"][1]["latency_ms"], summary["rows"][0]["latency_ms"] = first["latency_ms"], second["latency_ms"]
        self.file("report-a.json", first)
        self.file("report-b.json", second)
        self.file("schedule-a.json", renamed(schedule(), {"conv_2": NASTY}))
        return self.file("summary.json", summary)

    def shown_rows(self, table):
        rows = table.find_elements(By.CSS_SELECTOR, "tbody tr")
        return [row.find_element(By.CSS_SELECTOR, "th").text for row in rows if row.is_displayed()]

    def operator(self, name):
        """The rectangle of an operator in the visible timeline, in the part that is drawn last (the run)."""
        script = """const found = [];
          for (const figure of document.querySelectorAll('figure.timeline')) {
            const timeline = data.timelines[figure.dataset.timeline], order = [];
            for (const part of timeline.parts) for (const lane of part.lanes) order.push(...lane.slices);
            for (const rect of figure.querySelectorAll('.op'))
              if (rect.checkVisibility() && timeline.names[order[rect.dataset.at][0]] === arguments[0]) found.push(rect);
          }
          return found[found.length - 1];"""
        return self.browser.execute_script(script, name)

    def drawn(self):
        script = "return [...document.querySelectorAll('.op')].filter((one) => one.checkVisibility()).length"
        return self.browser.execute_script(script)

    def keep(self, name):
        """The picture of the page; it shows convolutions in their colour."""
        png = self.browser.get_screenshot_as_png()
        if folder := os.environ.get("HIOS_SCREENSHOTS"):
            (Path(folder) / f"{name}.png").write_bytes(png)
        picture = Image.open(io.BytesIO(png)).convert("RGB")
        self.assertIn(CONVOLUTION, {color for _, color in picture.getcolors(picture.width * picture.height)})
        return picture

    def assert_quiet(self, output):
        """Nothing in the console, and nothing fetched but the page itself."""
        self.assertEqual(self.browser.get_log("browser"), [])
        messages = [json.loads(entry["message"])["message"] for entry in self.browser.get_log("performance")]
        asked = {one["params"]["request"]["url"] for one in messages if one["method"] == "Network.requestWillBeSent"}
        self.assertEqual({url.split("#")[0] for url in asked if not url.startswith(("data:", "chrome"))}, {output.as_uri()})

    def test_hovering_an_operator_names_it_and_its_times(self):
        output = self.open(self.summary())
        tip = self.one("#tip")
        self.assertFalse(tip.is_displayed())
        ActionChains(self.browser).move_to_element(self.operator(NASTY)).perform()
        self.until(tip.is_displayed)
        self.assertEqual(tip.find_element(By.CSS_SELECTOR, "b").text, NASTY)
        for words in ("start\n0.229 ms", "end\n1.361 ms", "predicted\n1.166 ms", "measured\n1.132 ms", "on\nrank 0"):
            self.assertIn(words, tip.text)
        self.assertEqual(len(self.all(".op.same")), 2)  # in the plan and in the run
        self.keep("hovered")
        ActionChains(self.browser).move_to_element(self.one("h1")).perform()
        self.until(lambda: not tip.is_displayed())
        self.assert_quiet(output)

    def test_a_message_is_explained(self):
        output = self.open(self.file("report.json", report()))
        path = self.all("path.reach")[-1]
        self.browser.execute_script("""const box = arguments[0].getBoundingClientRect();
          const event = new PointerEvent('pointermove', {bubbles: true, clientX: box.x, clientY: box.y});
          arguments[0].dispatchEvent(event);""", path)
        self.until(self.one("#tip").is_displayed)
        self.assertIn("message\nrank 1 → rank 0", self.one("#tip").text)
        self.assertIn("size\n524 kB", self.one("#tip").text)
        self.assert_quiet(output)

    def test_keys_zoom_and_step_through_operators(self):
        output = self.open(self.file("report.json", report()))
        drawing = self.one(".drawing")
        self.assertEqual(self.drawn(), 10)
        self.browser.execute_script("arguments[0].focus()", drawing)
        for _ in range(6):
            drawing.send_keys("+")
        self.until(lambda: 0 < self.drawn() < 10)
        drawing.send_keys("0")
        self.until(lambda: self.drawn() == 10)
        drawing.send_keys(".")
        self.until(self.one("#tip").is_displayed)
        self.assertIn("conv_1, kind convolution", self.one("#spoken").get_attribute("textContent"))
        drawing.send_keys(Keys.ESCAPE)
        self.until(lambda: not self.one("#tip").is_displayed())
        self.assert_quiet(output)

    def test_a_drag_and_the_wheel_zoom(self):
        output = self.open(self.file("report.json", report()))
        drawing = self.one(".drawing")
        self.browser.execute_script("arguments[0].scrollIntoView()", drawing)
        drag = ActionChains(self.browser).move_to_element_with_offset(drawing, -300, 0).click_and_hold()
        drag.move_by_offset(60, 0).release().perform()
        self.until(lambda: 0 < self.drawn() < 10)
        self.one('[data-do="all"]').click()
        self.until(lambda: self.drawn() == 10)
        self.browser.execute_script("arguments[0].focus()", drawing)
        wheel = """const box = arguments[0].getBoundingClientRect();
          return arguments[0].dispatchEvent(new WheelEvent('wheel', {deltaY: -900, clientX: box.x + 200, cancelable: true}));"""
        self.assertFalse(self.browser.execute_script(wheel, drawing))  # the page does not scroll
        self.until(lambda: self.drawn() < 10)
        self.assert_quiet(output)

    def test_a_heading_sorts_its_column_both_ways(self):
        output = self.open(self.file("report.json", report()))
        table = self.one("table.layers")
        heading = next(one for one in table.find_elements(By.CSS_SELECTOR, "thead th") if one.text.startswith("predicted"))
        button = heading.find_element(By.CSS_SELECTOR, "button")
        by_time = [row["operator"] for row in sorted(report()["operators"], key=lambda row: row["predicted_ms"])]
        self.browser.execute_script("arguments[0].click()", button)
        self.assertEqual((heading.get_attribute("aria-sort"), self.shown_rows(table)), ("descending", by_time[::-1]))
        button.send_keys(Keys.ENTER)
        self.assertEqual((heading.get_attribute("aria-sort"), self.shown_rows(table)), ("ascending", by_time))
        self.assert_quiet(output)

    def test_meters_are_as_long_as_their_shares(self):
        data = report()
        for row, ms in zip(data["operators"], (4.0, 2.0, 1.0)):
            row["measured_ms"] = ms
        self.open(self.file("report.json", data))
        script = "return [...document.querySelectorAll('.meter')].map((one) => one.getBoundingClientRect().width)"
        wide = self.browser.execute_script(script)
        self.assertGreater(wide[0], 40)
        self.assertAlmostEqual(wide[1] / wide[0], 0.5, delta=0.01)
        self.assertAlmostEqual(wide[2] / wide[0], 0.25, delta=0.01)

    def test_rows_lead_to_their_run(self):
        output = self.open(self.summary())
        runs = self.all("article.run")
        self.assertEqual([run.is_displayed() for run in runs], [False, True])
        self.browser.execute_script("arguments[0].click()", self.all("button.show")[0])
        self.until(lambda: [run.is_displayed() for run in runs] == [True, False])
        self.assertGreater(self.drawn(), 0)
        tab = self.one('[role="tab"][aria-selected="true"]')
        tab.send_keys(Keys.ARROW_RIGHT)
        self.until(lambda: [run.is_displayed() for run in runs] == [False, True])
        self.assert_quiet(output)

    def test_the_page_fits_eight_hundred_pixels_in_both_schemes(self):
        output = self.open(self.summary())
        self.addCleanup(self.emulate, "clearDeviceMetricsOverride")
        self.emulate("setDeviceMetricsOverride", width=800, height=1200, deviceScaleFactor=1, mobile=False)
        corners = []
        for scheme in ("light", "dark"):
            self.emulate("setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            self.until(lambda: self.browser.execute_script("return innerWidth") == 800)
            self.assertLessEqual(self.browser.execute_script("return document.documentElement.scrollWidth"), 800)
            corners.append(sum(self.keep(f"800-{scheme}").getpixel((2, 2))))
        self.assertGreater(corners[0], corners[1])
        self.emulate("setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        self.assertFalse(self.one(".controls").is_displayed())
        self.assertEqual(self.keep("printed").getpixel((2, 2)), (255, 255, 255))
        self.emulate("setEmulatedMedia", media="", features=[])
        self.assert_quiet(output)

    def test_two_runs_share_a_timeline(self):
        output = self.open("--compare", self.file("a.json", report()), self.file("b.json", report(algorithm="inter-lp")))
        self.assertEqual(len(self.all(".difference .op")), 10)
        self.assertEqual([one.text.split(",")[0] for one in self.all(".difference text.part")], ["A", "B"])
        self.assert_quiet(output)


if __name__ == "__main__":
    unittest.main()
