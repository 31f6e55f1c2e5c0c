"""The three programs: where they are, and how ranks are started.

    programs  runs them and returns what they wrote
    mpirun    the command line of ranks
    start     becomes a program: hios run, profile, schedule, check, explain
"""
