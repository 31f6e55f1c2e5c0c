#pragma once

#include <boost/program_options.hpp>

#include "cli/flags/flags.h"
#include "hios/flight/recorder.h"

/// The flight record of a rank, as the command line has it.
namespace hios::cli {

/// --flight-record.
boost::program_options::options_description flight_flags();
/// --explain, of the program that runs.
boost::program_options::options_description explain_flags();

/// Names the process in its record, and says where the record goes should the process fail: before
/// the command line is parsed, since MPI itself starts before.
void prepare_record(flight::Recorder& recorder, int argc, const char* const* argv);

/// Throws InputError where --flight-record names no folder.
void check_flight_folder(const Flags& flags);

/// What --explain prints of the files that it names. Throws InputError: one that is no flight
/// record, or that is of another job.
std::string explanation(const Flags& flags, const ReadLimits& limits);

}  // namespace hios::cli
