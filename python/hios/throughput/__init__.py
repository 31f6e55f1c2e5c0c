"""Many inferences in flight, compared with copies of the network: hios bench --throughput.

    command    the sections of the comparison, within the budget
    rows       the rows: a network, ranks, a schedule, buffers
    measuring  profiles, schedules and runs, in turns
    table      the printed table
    verdict    the verdict in words
    weights    networks whose weights are a multiple of a core's cache
"""
