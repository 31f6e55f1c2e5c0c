#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include <boost/program_options.hpp>

#include "cli/flags.h"
#include "hios/graph/coarsen.h"
#include "hios/model/model.h"
#include "hios/schedule/schedule.h"

namespace hios::cli {

/// --model NAME|FILE --batch --height --width.
boost::program_options::options_description model_flags();

/// A model and its operators, kept together because the operators name the model's layers.
struct Network {
  Model model;
  CoarseGraph coarse;
  /// The flags that name it and its size: "--model squeezenet --batch 1 --height 48 --width 48".
  std::string flags;
  /// Covers the layers and shapes, for the agreement between ranks.
  std::string digest() const;
};

/// What the user asked for, with the built-in's default size where none was given. A name that is
/// no built-in is a file (`hios-model`). `element_bytes`: of tensors on the devices it is for.
Network load_network(const Flags& flags, const ReadLimits& limits, Bytes element_bytes);

/// The same name, for the devices of a schedule, at the size that it was made for where the flags
/// do not say.
Network load_network(const Flags& flags, const ReadLimits& limits, const ScheduleHead& head);

/// "inception_v3 1x3x299x299".
std::string describe(const Model& model);

}  // namespace hios::cli
