#pragma once

#include <string>

#include <boost/program_options.hpp>

#include "cli/flags/flags.h"
#include "hios/flight/recorder.h"

/// Flags of the flight record of a rank.
namespace hios::cli {

/// Declares --flight-record.
boost::program_options::options_description flight_flags();
/// Declares --explain, a flag of hios-run.
boost::program_options::options_description explain_flags();

/// Names the process in its flight record, and sets the folder of the record should the process
/// fail. It reads argv itself, since MPI starts before the command line is parsed.
void prepare_record(flight::Recorder& recorder, int argc, const char* const* argv);

/// Throws InputError where --flight-record names no folder that can be written to.
void check_flight_folder(const Flags& flags);

/// Returns the text that --explain prints about its files. Throws InputError where one is no flight
/// record or belongs to another job.
std::string explanation(const Flags& flags, const ReadLimits& limits);

}  // namespace hios::cli
