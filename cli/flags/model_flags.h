#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <boost/program_options.hpp>

#include "cli/flags/flags.h"
#include "hios/graph/network.h"

namespace hios::cli {

/// --model NAME|FILE --batch --height --width --dim --fusion --merge.
boost::program_options::options_description model_flags();

/// --batch, --height and --width, as far as they are given.
InputSize read_input_size(const Flags& flags);

/// --fusion and --merge: the same in all three programs, or schedules are for another graph.
FusionRules read_fusion(const Flags& flags, const ReadLimits& limits);

/// What --model names. `element_bytes`: of tensors on the devices it is for.
Network load_network(const Flags& flags, const ReadLimits& limits, Bytes element_bytes);

/// --inputs and --parts.
boost::program_options::options_description inputs_flags();

/// What they say: so many inputs that are there at once, to be run by so many parts at a time.
struct DividedInputs {
  std::int64_t inputs = 1;
  std::int64_t parts = 1;
};

/// Nothing without --inputs, unless the graph brings `inputs` itself. Throws InputError: parts that
/// do not divide the inputs, --batch beside --inputs, or another number than the graph's.
std::optional<DividedInputs> read_divided_inputs(const Flags& flags,
                                                 std::optional<std::int64_t> of_graph = {});

/// What --model names, for any number of inputs at a time; without a number, as the flags say. It
/// needs the flags no more.
std::function<Network(std::optional<std::int64_t>)> network_maker(const Flags& flags,
                                                                  const ReadLimits& limits,
                                                                  Bytes element_bytes);

/// The flags that name a network and its size: "--model squeezenet --batch 1 --height 48 --width
/// 48", for commands that remedies name; with the parts that the batches of the graph need, where
/// it divides the inputs.
std::string model_words(const Flags& flags, const Model& model, const Graph& graph,
                        std::optional<DividedInputs> divided = {});

}  // namespace hios::cli
