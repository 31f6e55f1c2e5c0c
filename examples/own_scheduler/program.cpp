// hios-schedule with one scheduler more: --list-algorithms describes it, and --compare ranks it
// among the others.

#include "cli/schedule/program.h"
#include "earliest_finish.h"

int main(int argc, char** argv) {
  hios::scheduler::Registry registry = hios::scheduler::built_in();
  registry.add(earliest_finish());
  return hios::cli::schedule_program(argc, argv, registry);
}
