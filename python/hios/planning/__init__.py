"""The library of schedulers for Python: `import hios` has its names (docs/python.md).

    core        the compiled part, or the reason why it is not there
    numbers     times, bytes and names out of other people's files
    graph       operators and dependencies: from networkx, from lists, random ones
    reading     files: GraphML, DOT, JSON and those of HIOS
    platform    devices and their links
    problem     a graph and its costs on a platform, as a scheduler asks for them
    stages      the stages of a schedule as lists of names
    search      long work that Ctrl-C ends with the best result so far
    own         schedulers that are Python functions
    child       runs such a function in a process of its own, which can be ended
    schedule    one algorithm's schedule
    timeline    its times
    evaluate    simulation, rules and bounds of any schedule
    comparison  several algorithms and numbers of devices in one table
    algorithms  the list of them
    bench       hios bench as a function
"""
