// Preloaded into a program, this imitates a network file system without locks.
#include <cerrno>

extern "C" int flock(int, int) {
  errno = ENOLCK;
  return -1;
}
