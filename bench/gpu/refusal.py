"""An error that ends bench/gpu.sh before anything ran: one line, exit status 2."""


class Refusal(Exception):
    """The error's line, without the program's name."""
