#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "hios/base/json/json_io.h"
#include "hios/graph/fusion/coarsen.h"
#include "hios/model/model.h"

namespace hios {

/// A model and its operators as one value, kept together because the operators name the model's
/// layers: what a job runs and measures, and what schedulers plan (`coarse.graph`).
struct Network {
  /// Coarsens the model, its siblings merged where `fusion` says so
  /// (hios/graph/fusion/merge_siblings.h). `element_bytes`: of a tensor's element on the devices
  /// that it is for.
  explicit Network(Model the_model, Bytes element_bytes = hios::element_bytes(Precision::kFp32),
                   const FusionRules& fusion = {});
  /// With operators of one's own. REQUIRES: they are made of the model's layers.
  Network(Model the_model, CoarseGraph the_coarse, Merge the_merge = Merge::kNone)
      : model(std::move(the_model)), coarse(std::move(the_coarse)), merge(the_merge) {}

  Model model;
  CoarseGraph coarse;
  Merge merge = Merge::kNone;  ///< what the model's siblings became
  /// Covers layers, shapes and operators, so that ranks can tell whether they have the same.
  std::string digest() const;
  /// "inception_v3 1x3x299x299".
  std::string description() const;
};

/// How large a model's input is to be; what is empty is the model's own.
struct InputSize {
  std::optional<std::int64_t> batch;   ///< of a built-in network: 1
  std::optional<std::int64_t> height;  ///< in pixels; of a built-in network: the width, if given
  std::optional<std::int64_t> width;   ///< in pixels; of a built-in network: the height
  std::map<std::string, std::int64_t> dims = {};  ///< of an ONNX file: extents that it names
};

/// A built-in network (hios/model/networks/networks.h) by its name, else a file: ONNX where its
/// name ends in ".onnx" (hios/onnx/read/import.h), else `hios-model`. Throws InputError: no such
/// network, a bad file, or a size that is too small for it.
Model load_model(const std::string& name_or_file, const InputSize& size = {},
                 const ReadLimits& limits = {});

}  // namespace hios
