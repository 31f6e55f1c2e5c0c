"""Many inferences in flight, compared with copies of the network: ./demo.sh --throughput.

  weights.py   networks whose weights are a multiple of a core's cache
  rows.py      the rows: a network, ranks, a schedule, buffers
  measuring.py profiles, schedules and runs, in turn
  table.py     the printed table
"""
