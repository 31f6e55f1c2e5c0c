// hios-schedule: plans on any machine, without MPI and without devices.

#include "cli/process/prepare.h"
#include "cli/schedule/program.h"
#include "scheduler/registry.h"

int main(int argc, char** argv) {
  hios::cli::prepare_process(argc, argv);  // the registry, too, takes memory
  return hios::cli::schedule_program(argc, argv, hios::scheduler::built_in());
}
