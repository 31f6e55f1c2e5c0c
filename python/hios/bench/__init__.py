"""Measures a network, schedules it in every way that this machine can run, runs the schedules in turn and prints a table:
./demo.sh. Standard library only.

    ways       the rows of the table
    profiling  one profile from short ones that are measured in turn
    running    schedules, rounds, and repeated measurements
    summary    the results
    table      the printed page
"""
