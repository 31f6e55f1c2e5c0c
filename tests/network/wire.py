"""The wire between hosts (hosts.py): hands each frame that one card sends to all others, later, or not at all.

wire.py [--delay-ms N] [--loss SHARE] [--seed N] --link NAME NETWORK… — makes a card NAME in each of the networks (files
such as /proc/PID/ns/net) and prints "ready". A frame is lost with probability SHARE, by a generator with a seed.
"""

import argparse
import collections
import ctypes
import fcntl
import os
import random
import select
import struct
import sys
import time

CLONE_NEWNET = 0x40000000
TUNSETIFF = 0x400454CA
IFF_TAP, IFF_NO_PI = 0x0002, 0x1000
LARGEST = 65536 + 64


def card(network, name):
    """A card in a network: what is read from it was sent there, what is written to it arrives there."""
    libc = ctypes.CDLL(None, use_errno=True)
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    there = os.open(network, os.O_RDONLY)

    def enter(space):
        if libc.setns(space, CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns", network)

    enter(there)
    try:
        number = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(number, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TAP | IFF_NO_PI))
    finally:
        enter(home)
        os.close(home)
        os.close(there)
    return number


def frames(number):
    """Yields the frames that the card has sent by now."""
    while True:
        try:
            yield os.read(number, LARGEST)
        except OSError:  # nothing left; or the card is down
            return


def deliver(number, frame):
    try:
        os.write(number, frame)
    except OSError:
        pass  # a card that is down, or full: as on any wire, the frame is lost


def hand_over(cards, delay_s, loss, seed):
    generator = random.Random(seed)
    waiting = collections.deque()  # (due, card, frame); all wait equally long, so the first is due first
    while True:
        wait = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        ready, _, _ = select.select(cards, [], [], wait)  # epoll waits whole milliseconds
        now = time.monotonic()
        for number in ready:
            for frame in frames(number):
                if loss and generator.random() < loss:
                    continue
                for other in cards:
                    if other != number:
                        waiting.append((now + delay_s, other, frame))
        while waiting and waiting[0][0] <= time.monotonic():
            _, number, frame = waiting.popleft()
            deliver(number, frame)


def come_first():
    """A wire does not wait for a core; where the kernel refuses that, it is a slower wire."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--delay-ms", type=float, default=0)
    parser.add_argument("--loss", type=float, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--link", required=True)
    parser.add_argument("networks", nargs="+")
    arguments = parser.parse_args()
    cards = [card(network, arguments.link) for network in arguments.networks]
    come_first()
    print("ready", flush=True)
    hand_over(cards, arguments.delay_ms / 1000, arguments.loss, arguments.seed)


if __name__ == "__main__":
    sys.exit(main())
