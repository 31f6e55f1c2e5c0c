#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <boost/program_options.hpp>

#include "cli/flags/flags.h"
#include "hios/graph/network.h"

namespace hios::cli {

/// Declares --model NAME|FILE --batch --height --width --dim --fusion --merge --cut.
boost::program_options::options_description model_flags();

/// Returns the names of the built-in networks.
std::vector<std::string> model_names();

/// Reads --batch, --height, --width and --dim, as far as they are given.
InputSize read_input_size(const Flags& flags);

/// Reads --fusion, --merge and --cut. They must be the same in all three programs, or schedules are
/// for another graph.
FusionRules read_fusion(const Flags& flags, const ReadLimits& limits);

/// Throws InputError where --cut none is given with a schedule whose operators are cut.
void refuse_to_leave_whole(const Flags& flags, const std::string& schedule, const Cuts& cuts);

/// Returns the flags with the cuts of a schedule in place of no --cut, so that the commands of
/// messages cut the model, too. `schedule`: its file.
Flags with_cuts_of(const std::string& schedule, const Cuts& cuts, const Flags& flags);

/// Returns true if --cut leaves the choice of the cuts to a search; read_fusion() then has none.
bool chooses_cuts(const Flags& flags);

/// Returns the shares of the rows that --cut auto gives the shards: those of the flag (auto:2:1),
/// or equal ones for the shards that it asks for (auto:4), or for so many. REQUIRES:
/// chooses_cuts(flags).
std::vector<std::int64_t> shares_of_cuts(const Flags& flags, std::size_t shards);

/// Loads the network that --model names. `element_bytes`: the size of an element of its tensors on
/// the devices.
Network load_network(const Flags& flags, const ReadLimits& limits, Bytes element_bytes);

/// Returns a model of the network that --model names, at this size, with the weights of a file:
/// those of the layers before siblings merge. Throws InputError where the file is of another model.
Model with_weights_of(const std::string& file, const Flags& flags, const InputSize& size,
                      const Model& model, const ReadLimits& limits);

/// Declares --inputs and --parts.
boost::program_options::options_description inputs_flags();

/// The inputs that are there at once, and the number of parts into which they are divided at most.
struct DividedInputs {
  std::int64_t inputs = 1;
  std::int64_t parts = 1;
};

/// Reads --inputs and --parts; returns nothing without --inputs, unless the graph has inputs
/// (`of_graph`). Throws InputError: parts that do not divide the inputs, --batch together with
/// --inputs, or another number than the graph's.
std::optional<DividedInputs> read_divided_inputs(const Flags& flags,
                                                 std::optional<std::int64_t> of_graph = {});

/// Returns a function that loads the network for any number of inputs at a time; without a number,
/// for the flags' number. The function does not refer to `flags`.
std::function<Network(std::optional<std::int64_t>)> network_maker(const Flags& flags,
                                                                  const ReadLimits& limits,
                                                                  Bytes element_bytes);

/// Returns the name of a profile for the model where none is given: "squeezenet.profile.json".
std::string profile_name(const Flags& flags);

/// Returns the flags that name a network and its size, for the commands of remedies, quoted for a
/// shell: "--model squeezenet --batch 1 --height 48 --width 48". Where the graph divides the
/// inputs, they have the parts that its batches need.
std::string model_words(const Flags& flags, const Model& model, const Graph& graph,
                        std::optional<DividedInputs> divided = {});

}  // namespace hios::cli
