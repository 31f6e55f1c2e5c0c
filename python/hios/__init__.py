"""The command `hios` and its page, for people. It starts the three programs and reads their files; nothing in C++ knows it.
Standard library, and Jinja2 for the page.

    command     the command line, and which module answers it
    files       strict JSON, and files that are written whole
    launch      the programs: where they are, and how ranks are started
    bench       hios bench: every way that this machine has, measured in turns
    throughput  hios bench --throughput: many inferences in flight
    exchange    hios import and hios export: schedules from other systems and for them
    page        hios report: one file that shows reports, schedules and comparisons
"""
