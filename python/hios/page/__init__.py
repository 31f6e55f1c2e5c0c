"""One page that shows it: reports, schedules, comparisons, summaries and traces in a single HTML file.

reading.py reads files, runs.py joins those of one run, and a module for each section makes its numbers:
ways.py (tables), timeline.py, layers.py, latency.py, devices.py (memory and waits), provenance.py, difference.py.
view.py collects the sections and render.py fills the templates.
"""
