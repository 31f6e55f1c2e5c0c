#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "hios/base/files/file_io.h"
#include "hios/graph/fusion/coarsen.h"
#include "hios/model/layer_kernel.h"
#include "hios/model/model.h"

namespace hios {

/// A model and its operators as one value, since the operators name the model's layers. A job runs
/// and measures it, and schedulers plan its graph (`coarse.graph`).
struct Network {
  /// Coarsens the model, its siblings merged (hios/graph/fusion/merge_siblings.h) and its operators
  /// cut (hios/graph/cuts/shard.h) where `fusion` says so. `element_bytes`: size of a tensor's
  /// element on the devices.
  explicit Network(Model the_model, Bytes element_bytes = hios::element_bytes(Precision::kFp32),
                   const FusionRules& fusion = {});
  /// Takes given operators. REQUIRES: they consist of the model's layers.
  Network(Model the_model, CoarseGraph the_coarse, Merge the_merge = Merge::kNone)
      : model(std::move(the_model)), coarse(std::move(the_coarse)), merge(std::move(the_merge)) {}

  Model model;
  CoarseGraph coarse;
  Merge merge = Merge::kNone;  ///< the merge of the model's siblings
  Cuts cuts = {};              ///< the cuts of the merged model's operators
  /// Returns a digest of layers, shapes and operators, by which ranks compare their networks.
  std::string digest() const;
  /// Returns the name and input shape: "inception_v3 1x3x299x299".
  std::string description() const;
};

/// The size that a model's input shall have. An empty extent is the file's own; one that an ONNX
/// file leaves open is as for a built-in network.
struct InputSize {
  std::optional<std::int64_t> batch;  ///< 1 for a built-in network
  // In pixels. For a built-in network, height and width are equal if one of them is empty.
  std::optional<std::int64_t> height;
  std::optional<std::int64_t> width;
  std::map<std::string, std::int64_t> dims = {};  ///< extents that an ONNX file names
};

/// Returns a built-in network (hios/model/networks/networks.h) by its name, or reads a file: ONNX
/// where its name ends in ".onnx" (hios/onnx/read/import.h), otherwise `hios-model`. `kernel`
/// computes the constants of ONNX files. Throws InputError: no such network, a bad file, or a size
/// that is too small for the network.
Model load_model(const std::string& name_or_file, const InputSize& size = {},
                 const ReadLimits& limits = {}, const LayerKernel& kernel = {});

}  // namespace hios
