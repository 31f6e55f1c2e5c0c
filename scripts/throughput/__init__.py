"""Many inferences in flight, beside copies of the network: what ./demo.sh --throughput runs.

  weights.py   networks that are all weights, by the size of a core's cache
  rows.py      what is measured: a network, ranks, a schedule, places
  measuring.py profiles, schedules and runs, in turns
  table.py     how it is printed
"""
