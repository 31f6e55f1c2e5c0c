"""hios bench: measures a network, schedules it in every way that this machine can run, runs the schedules in turns and says
what is fastest and why.

    arguments    the command line
    network      the network, its inputs, and the first answer
    ways         the rows of the table, and the machine's cores and ranks
    budget       the time for measuring, and how it is shared out
    folder       the folder of results
    profiling    one profile from short ones that are measured in turns
    running      schedules and rounds
    yardstick    oneDNN in a bare loop, for comparison
    samples      statistics of latencies
    summary      the results
    why          the longest path
    verdict      the verdict in words
    disturbance  the machine's other work, and the rows to distrust
    table        the printed page
"""
