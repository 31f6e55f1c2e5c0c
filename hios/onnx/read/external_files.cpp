// Part of hios/onnx/read/import.h: the files next to an ONNX file that hold its tensors. All count,
// also those of tensors that no node reads: a model without them is not the user's any more.
#include <set>

#include "hios/base/error.h"
#include "hios/onnx/model_file.h"
#include "hios/onnx/read/import.h"

namespace hios::onnx {
namespace {

using Locations = std::set<std::string>;

void collect(const proto::GraphProto& graph, Locations& found);

void collect(const proto::TensorProto& tensor, Locations& found) {
  if (std::string location = location_of(tensor); !location.empty())
    found.insert(std::move(location));
}

void collect(const proto::SparseTensorProto& tensor, Locations& found) {
  collect(tensor.values(), found);
  collect(tensor.indices(), found);
}

void collect(const proto::NodeProto& node, Locations& found) {
  for (const auto& attribute : node.attribute()) {
    collect(attribute.t(), found);
    collect(attribute.sparse_tensor(), found);
    if (attribute.has_g()) collect(attribute.g(), found);
    for (const auto& tensor : attribute.tensors()) collect(tensor, found);
    for (const auto& tensor : attribute.sparse_tensors()) collect(tensor, found);
    for (const auto& graph : attribute.graphs()) collect(graph, found);
  }
}

void collect(const proto::GraphProto& graph, Locations& found) {
  for (const auto& tensor : graph.initializer()) collect(tensor, found);
  for (const auto& tensor : graph.sparse_initializer()) collect(tensor, found);
  for (const auto& node : graph.node()) collect(node, found);
}

}  // namespace

std::vector<std::filesystem::path> external_files(const std::filesystem::path& file,
                                                  const ReadLimits& limits) {
  Locations found;
  try {
    ModelFile read(file, limits);
    collect(read.model().graph(), found);
    for (const auto& training : read.model().training_info()) {
      collect(training.initialization(), found);
      collect(training.algorithm(), found);
    }
    for (const auto& function : read.model().functions()) {
      for (const auto& node : function.node()) collect(node, found);
    }
  } catch (const InputError&) {
    return {};
  }
  std::vector<std::filesystem::path> files;
  for (const std::string& location : found) files.push_back(file.parent_path() / location);
  return files;
}

}  // namespace hios::onnx
