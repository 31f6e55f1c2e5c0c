#include "hios/onnx/read/graph_reader.h"

#include "hios/base/error.h"
#include "hios/onnx/read/graph_input.h"
#include "hios/onnx/read/node_reader.h"

namespace hios::onnx {
namespace {

constexpr std::size_t kLongestOutputName = 200;
constexpr std::int64_t kOldestOpset = 7, kNewestOpset = 28;

std::int64_t opset_of(const ModelFile& file, const proto::ModelProto& model) {
  std::int64_t opset = 0;
  for (const auto& import : model.opset_import()) {
    if (import.domain().empty() || import.domain() == "ai.onnx") opset = import.version();
  }
  if (opset >= kOldestOpset && opset <= kNewestOpset) return opset;
  file.fail("is of opset " + std::to_string(opset) + "; opsets " + std::to_string(kOldestOpset) +
            " to " + std::to_string(kNewestOpset) + " are read");
}

class GraphReader {
 public:
  GraphReader(ModelFile& file, const ImportOptions& options)
      : file_(file),
        options_(options),
        graph_(*file.model().mutable_graph()),
        opset_(opset_of(file, file.model())),
        nodes_(file, options.kernel, opset_, draft_) {}

  Draft read() {
    nodes_.refuse_unknown_operators();
    draft_.name = graph_.name().empty() ? "onnx" : printable(graph_.name());
    read_initializers();
    define_inputs();
    count_uses();
    for (auto& node : *graph_.mutable_node()) nodes_.read(node);
    read_outputs();
    return std::move(draft_);
  }

 private:
  void count_uses() {
    for (const auto& node : graph_.node()) nodes_.values().add_uses(names_read(node));
    for (const auto& output : graph_.output()) nodes_.values().add_uses({output.name()});
  }

  void read_initializers() {
    if (graph_.sparse_initializer_size() > 0) file_.fail("has sparse tensors, which are not read");
    Bytes held = 0;
    for (auto& tensor : *graph_.mutable_initializer()) {
      const Dims dims(tensor.dims().begin(), tensor.dims().end());
      std::shared_ptr<const Constant> values = file_.take(tensor);
      held += values->size_bytes();
      file_.require_memory("the tensors up to '" + printable(tensor.name()) + "' take", held);
      nodes_.count_in_file(*values);
      nodes_.define(tensor.name(), View{std::move(values), dims, dense_strides(dims), 0});
    }
  }

  void define_inputs() {
    const std::vector<GraphInput> inputs =
        read_inputs(file_, options_,
                    [&](const std::string& name) { return nodes_.values().find(name) != nullptr; });
    for (const GraphInput& input : inputs) {
      const Constant::Type type = type_of_element(input.element);
      draft_.inputs.push_back({.name = input.name,
                               .dims = input.dims,
                               .below = type == Constant::Type::kFloat ? 0 : 2,
                               .is_truth = type == Constant::Type::kBool});
    }
    const GraphInput& first = inputs.front();
    const bool one = inputs.size() == 1;
    draft_.tensors.push_back(
        {one ? shape_of(extents_in(first.dims, memory_order(first.dims.size())))
             : joined_shape(draft_.inputs),
         {}});
    const std::vector<InputPlace> places = places_of(draft_.inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      View view = dense_view(DraftId(0), inputs[i].dims, memory_order(inputs[i].dims.size()));
      view.offset = places[i].offset;
      if (places[i].rows > 1) view.strides.front() = places[i].stride;
      view.computed_type = type_of_element(inputs[i].element);
      if (element_size(inputs[i].element) < 4 && view.computed_type == Constant::Type::kInteger)
        view.computed_element = inputs[i].element;
      nodes_.define(inputs[i].name, view);
    }
  }

  void read_outputs() {
    if (graph_.output_size() == 0) file_.fail("has no output");
    for (const auto& output : graph_.output()) {
      const std::string what = "the output '" + printable(output.name()) + "' ";
      const View* found = nodes_.values().find(output.name());
      if (found == nullptr) {
        file_.fail(what + nodes_.why_unknown(output.name()).value_or("is computed by no node"));
      }
      const View& view = *found;
      if (view.is_constant()) file_.fail(what + "does not depend on the input");
      const std::string name = printable(output.name(), kLongestOutputName);
      draft_.outputs.push_back({name, stored(name, view), view.dims});
    }
  }

  /// Returns the tensor that holds an output in the order of DraftOutput.
  DraftId stored(const std::string& name, const View& view) {
    proto::NodeProto copy;
    copy.set_op_type("Identity");
    const Attributes none;
    const Node node(file_, copy, none, opset_, draft_.unique(name + ".output"), {&view});
    LayerEmitter emitter(draft_, node);
    const View whole = emitter.dense(view);
    if (draft_.tensors[whole.tensor().index()].producer) return whole.tensor();
    // The output is the model's input: a Move copies it.
    View read;
    const LayerInput input = emitter.input_in_any_order(whole, read);
    const Move move{input.shape, {{input.shape.elements(), 1}}, 0};
    return emitter.emit(move, {input}, view.dims, memory_order(view.rank())).tensor();
  }

  ModelFile& file_;
  const ImportOptions& options_;
  proto::GraphProto& graph_;
  std::int64_t opset_;
  Draft draft_;
  NodeReader nodes_;
};

}  // namespace

Draft read_graph(ModelFile& file, const ImportOptions& options) {
  return GraphReader(file, options).read();
}

}  // namespace hios::onnx
