// hios-schedule: plans on any machine, without MPI and without devices.

#include "cli/schedule/program.h"
#include "scheduler/registry.h"

int main(int argc, char** argv) {
  return hios::cli::schedule_program(argc, argv, hios::scheduler::built_in());
}
