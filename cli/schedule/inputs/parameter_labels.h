#pragma once

#include "cli/flags/flags.h"
#include "hios/graph/network.h"

namespace hios::cli {

/// Declares --label-parameters own|FILE.
boost::program_options::options_description label_flags();

/// Returns the network whose operators' parameters have labels where --label-parameters is given:
/// digests of their shapes and values, of the model's own weights, or those of --seed, or of a file
/// of weights. So equal parameters of different models have equal labels. Reads and draws all
/// values. Throws InputError as read_weights() does.
Network with_parameter_labels(Network network, const Flags& flags, const Common& common);

}  // namespace hios::cli
