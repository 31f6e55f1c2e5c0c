// hios-run: runs a schedule, one rank per device, and reports its latency, the error of the
// prediction and, with --verify, of the outputs.

#include "cli/run/program.h"

int main(int argc, char** argv) { return hios::cli::run_program(argc, argv); }
