"""Names from files never become markup or script, and the page fetches nothing."""

import base64
import hashlib
import json
import re
import unittest

from hios.page.render import embedded
from page_samples import PageTest, comparison, examples, renamed, report, schedule, trace

NASTY = ['</script><script>document.title="broken"</script>', "<!--<script>", "'\"`&amp;<img src=x onerror=alert(1)>",
         "名前 ü ☃ \u2028 \u2029",
         "]]></style>{{ 7 * 7 }}{% raw %}"]
NAMES = dict(zip(("conv_1", "conv_2", "conv_3", "concat_4", "pool_5"), NASTY))


class SafetyTest(PageTest):
    def files(self):
        """Files of all kinds in which every name is nasty."""
        made = renamed(report(), NAMES)
        made["model"]["name"] = made["transfer_path"] = made["ranks"][0]["host"] = NASTY[0]
        made["arguments"].append(NASTY[2])
        made["versions"]["commit"] = NASTY[2]
        plan = renamed(schedule(), NAMES)
        plan["devices"][0]["name"] = NASTY[2]
        table = comparison()
        table["comparison"][0].update(algorithm=NASTY[0], bound=NASTY[2])
        summary = examples()["summary"]
        summary["rows"][0]["name"], summary["model"], summary["extra"] = NASTY[0], NASTY[2], {"verdict": NASTY}
        made_trace = renamed(trace(), {"conv_1": NASTY[0], "measured": NASTY[2], "rank 1 stream 0": NASTY[1]})
        data = {"report": made, "schedule": plan, "compare": table, "summary": summary, "trace": made_trace}
        return [self.file(f"{name}.json", one) for name, one in data.items()]

    def test_names_stay_text(self):
        page = self.page(*self.files(), "--title", NASTY[0])
        for name in NASTY[:2] + NASTY[4:]:
            self.assertIn(name, page.text)
        tags = [tag for tag, _ in page.tags]
        self.assertEqual((tags.count("script"), tags.count("style"), tags.count("img")), (2, 1, 0))
        self.assertFalse([name for _, given in page.tags for name in given if name.startswith("on")])
        self.assertEqual(page.payload["timelines"]["0"]["names"][0], NASTY[0])

    def test_names_of_a_comparison_of_two_runs_stay_text(self):
        files = self.files()
        page = self.page("--compare", files[0], files[0])
        self.assertEqual([tag for tag, _ in page.tags].count("script"), 2)
        self.assertIn(NASTY[0], page.text)

    def test_embedded_data_has_no_character_that_ends_its_element(self):
        text = embedded({"names": NASTY, NASTY[0]: 1})
        self.assertNotRegex(text, r"[<>&\u2028\u2029]|[^\x00-\x7f]")
        self.assertEqual(json.loads(text), {"names": NASTY, NASTY[0]: 1})

    def test_nothing_is_fetched(self):
        page = self.page(*self.files())
        self.assertEqual(set(page.addresses), {"data:,", "#content"})
        self.assertNotRegex(page.styles, r"url\((?!#)|@import|@font-face")
        self.assertNotRegex(page.scripts, r"fetch\(|XMLHttpRequest|WebSocket|importScripts|\bimport\b")
        self.assertNotRegex(page.scripts, r"https?://(?!www\.w3\.org/2000/svg)")

    def test_the_policy_of_the_page_allows_its_own_script_alone(self):
        page = self.page(*self.files())
        policy = next(given["content"] for tag, given in page.tags if given.get("http-equiv") == "Content-Security-Policy")
        digest = base64.b64encode(hashlib.sha256(page.scripts.encode()).digest()).decode()
        self.assertIn("default-src 'none'", policy)
        self.assertEqual(re.findall(r"script-src ([^;]*)", policy), [f"'sha256-{digest}'"])

    def test_every_table_and_picture_is_named_for_those_who_do_not_see_it(self):
        page = self.page(*self.files())
        ids = [given["id"] for _, given in page.tags if "id" in given]
        self.assertEqual(len(ids), len(set(ids)))
        for tag, given in page.tags:
            if tag == "svg":
                self.assertTrue(given.get("aria-label") or given.get("aria-hidden"), given)
            if tag == "th":
                self.assertIn(given.get("scope"), ("col", "row", "rowgroup"))
            for reference in ("aria-labelledby", "aria-controls"):
                if reference in given:
                    self.assertIn(given[reference], ids)


if __name__ == "__main__":
    unittest.main()
