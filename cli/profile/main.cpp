// hios-profile: measures a network's operators, stages and transfers on the ranks that will run it.

#include "cli/profile/program.h"

int main(int argc, char** argv) { return hios::cli::profile_program(argc, argv); }
