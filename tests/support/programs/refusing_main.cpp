// The main() of our programs' twins that are refused the N-th allocation: $HIOS_REFUSE_ALLOCATION
// is N, counted from main on, $HIOS_REFUSE_RANK the rank that it is for (all), and
// $HIOS_REFUSE_EVER_AFTER says that memory does not come back. At its end a twin writes into
// $HIOS_COUNT_FILE how many allocations there were.
#include <pthread.h>

#include <cstdio>
#include <cstdlib>

#include "mpi/messages/launcher.h"
#include "support/programs/count_allocations.h"

int program_main(int argc, char** argv);  // main() of the program, which the build gives this name

namespace {

using namespace hios::test;

bool concerned() {
  const char* const wanted = std::getenv("HIOS_REFUSE_RANK");
  return wanted == nullptr || hios::mpi::launched_rank() == std::strtoull(wanted, nullptr, 10);
}

void write_count() {
  counting = false;
  const char* const name = std::getenv("HIOS_COUNT_FILE");
  if (name == nullptr || !concerned()) return;
  if (std::FILE* const file = std::fopen(name, "w")) {
    std::fprintf(file, "%zu\n", allocations.load());
    std::fclose(file);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const char* const number = std::getenv("HIOS_REFUSE_ALLOCATION");
  if (number != nullptr && concerned()) refused = std::strtoull(number, nullptr, 10);
  refused_ever_after = std::getenv("HIOS_REFUSE_EVER_AFTER") != nullptr;
  // The child that speaks for a rank that was killed is a process of its own.
  pthread_atfork(nullptr, nullptr, [] { counting = false; });
  counting = true;
  const int status = program_main(argc, argv);
  write_count();
  return status;
}
