"""python3 -m hios …"""

import sys

from hios.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
