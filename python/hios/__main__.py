"""python3 -m hios …, and the script of the package."""

import sys

from hios.command import main


def run():
    """Ends the process with the command's status."""
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    run()
