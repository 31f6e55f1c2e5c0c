// Loaded before a program, this stands for a network file system that has no locks.
#include <cerrno>

extern "C" int flock(int, int) {
  errno = ENOLCK;
  return -1;
}
