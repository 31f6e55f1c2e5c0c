#pragma once

#include <string>

#include <boost/program_options.hpp>

#include "cli/flags.h"
#include "hios/graph/network.h"

namespace hios::cli {

/// --model NAME|FILE --batch --height --width --fusion.
boost::program_options::options_description model_flags();

/// --batch, --height and --width, as far as they are given.
InputSize read_input_size(const Flags& flags);

/// --fusion: the same in all three programs, or schedules are for another graph.
FusionRules read_fusion(const Flags& flags, const ReadLimits& limits);

/// What --model names. `element_bytes`: of tensors on the devices it is for.
Network load_network(const Flags& flags, const ReadLimits& limits, Bytes element_bytes);

/// The flags that name a network and its size: "--model squeezenet --batch 1 --height 48 --width
/// 48", for commands that remedies name.
std::string model_words(const Flags& flags, const Network& network);

}  // namespace hios::cli
