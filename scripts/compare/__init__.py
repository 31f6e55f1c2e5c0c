"""Measures a network, schedules it in every way this machine can run, runs the schedules in turns and prints them side
by side: ./demo.sh. Standard library only.

    ways       which rows there are, and what each of them is
    profiling  one profile out of short ones that were measured in turns
    running    schedules, rounds, and what is measured again
    summary    what all of it says
    table      how that is printed
"""
