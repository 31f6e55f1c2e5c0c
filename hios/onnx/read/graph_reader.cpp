#include "hios/onnx/read/graph_reader.h"

#include <algorithm>
#include <map>
#include <new>
#include <set>
#include <unordered_map>

#include "hios/base/error.h"
#include "hios/base/need.h"
#include "hios/base/size_text.h"
#include "hios/onnx/operators/registry.h"

namespace hios::onnx {
namespace {

constexpr std::size_t kLongestName = 200;
/// Limit of the values of all folded constants together: four of the largest.
constexpr std::int64_t kTotalFoldBudget = 4 * kFoldBudget;
constexpr std::int64_t kOldestOpset = 7, kNewestOpset = 28;

bool is_standard(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

class GraphReader {
 public:
  GraphReader(ModelFile& file, const ImportOptions& options)
      : file_(file), options_(options), graph_(*file.model().mutable_graph()) {}

  Draft read() {
    read_opset();
    refuse_unknown_operators();
    draft_.name = graph_.name().empty() ? "onnx" : printable(graph_.name());
    read_initializers();
    read_input();
    count_uses();
    for (auto& node : *graph_.mutable_node()) {
      read_node(node);
      for (const std::string& name : node.input()) free_after_last_use(name);
    }
    read_outputs();
    return std::move(draft_);
  }

 private:
  void read_opset() {
    for (const auto& import : file_.model().opset_import()) {
      if (is_standard(import.domain())) opset_ = import.version();
    }
    if (opset_ >= kOldestOpset && opset_ <= kNewestOpset) return;
    file_.fail("is of opset " + std::to_string(opset_) + "; opsets " +
               std::to_string(kOldestOpset) + " to " + std::to_string(kNewestOpset) + " are read");
  }

  /// Refuses all unknown operators at once, so that nobody finds them one by one.
  void refuse_unknown_operators() {
    // By type: the first node, and the number of nodes.
    std::map<std::string, std::pair<std::string, int>> unknown;
    for (const auto& node : graph_.node()) {
      const std::string& type = node.op_type();
      if (is_standard(node.domain()) && find_operator(type)) continue;
      const std::string full = is_standard(node.domain()) ? type : node.domain() + "." + type;
      auto& entry = unknown[printable(full)];
      if (entry.second++ == 0) entry.first = node_name(node);
    }
    if (unknown.empty()) return;
    std::string list;
    std::size_t named = 0;
    for (const auto& [type, entry] : unknown) {
      if (++named > 12) break;
      list += (list.empty() ? "" : ", ") + type + " (" +
              (entry.second > 1 ? std::to_string(entry.second) + " nodes, first " : "node ") + "'" +
              printable(entry.first, 40) + "')";
    }
    if (unknown.size() > 12) list += " and " + std::to_string(unknown.size() - 12) + " more";
    file_.fail("has operators that are not read: " + list);
  }

  /// Returns a node's name, fit for files and messages.
  static std::string node_name(const proto::NodeProto& node) {
    if (!node.name().empty()) return printable(node.name(), kLongestName);
    for (const std::string& output : node.output()) {
      if (!output.empty()) return printable(output, kLongestName);
    }
    return printable(node.op_type(), kLongestName);
  }

  void define(const std::string& name, View view) {
    if (name.empty()) return;
    if (!defined_.insert(name).second) {
      file_.fail("the value '" + printable(name) + "' is computed twice");
    }
    values_.emplace(name, std::move(view));
  }

  void count_uses() {
    for (const auto& node : graph_.node()) {
      for (const std::string& name : node.input()) ++uses_left_[name];
    }
    for (const auto& output : graph_.output()) ++uses_left_[output.name()];
  }

  /// Frees a value after its last use. Layers hold copies of their weights, so a file would
  /// otherwise be in memory twice.
  void free_after_last_use(const std::string& name) {
    if (--uses_left_[name] == 0) values_.erase(name);
  }

  void read_initializers() {
    if (graph_.sparse_initializer_size() > 0) file_.fail("has sparse tensors, which are not read");
    Bytes held = 0;
    for (auto& tensor : *graph_.mutable_initializer()) {
      const Dims dims(tensor.dims().begin(), tensor.dims().end());
      std::shared_ptr<const Constant> values = file_.take(tensor);
      held += values->size_bytes();
      file_.require_memory("the tensors up to '" + printable(tensor.name()) + "' take", held);
      define(tensor.name(), View{std::move(values), dims, dense_strides(dims), 0});
    }
  }

  /// Reads the graph's one input: the only one without an initializer.
  void read_input() {
    const proto::ValueInfoProto* input = nullptr;
    for (const auto& each : graph_.input()) {
      if (values_.contains(each.name())) continue;  // IR 3 lists weights as inputs, too
      if (input != nullptr) {
        file_.fail("has several inputs ('" + printable(input->name()) + "', '" +
                   printable(each.name()) + "'); one is read");
      }
      input = &each;
    }
    if (input == nullptr) file_.fail("has no input");
    const std::string what = "the input '" + printable(input->name()) + "' ";
    if (!input->type().has_tensor_type()) file_.fail(what + "is no tensor");
    const auto& type = input->type().tensor_type();
    const int element = type.elem_type();
    if (element != proto::TensorProto::FLOAT && element != proto::TensorProto::FLOAT16 &&
        element != proto::TensorProto::DOUBLE) {
      file_.fail(what + "holds " + type_name(element) + "; floating-point numbers are read");
    }
    file_.set_widens_halves(element == proto::TensorProto::FLOAT16);
    if (!type.has_shape()) file_.fail(what + "has no shape");
    const Dims dims = input_dims(type.shape(), what);
    draft_.input_dims = dims;
    draft_.input_name = input->name();
    const std::vector<std::size_t> order = memory_order(dims.size());
    Dims extents;
    for (const std::size_t axis : order) extents.push_back(dims[axis]);
    draft_.tensors.push_back({shape_of(extents), {}});
    define(input->name(), dense_view(DraftId(0), dims, order));
  }

  /// Returns the extent of an input's axis: that of its flag, else the file's. Files mark an open
  /// one by a name, or by -1. An open batch is 1, an open height or width as the other one's flag
  /// says. Empty: it stays open.
  std::optional<std::int64_t> extent(const proto::TensorShapeProto& shape, int axis) const {
    const bool image = shape.dim_size() == 4, batch = axis == 0 && shape.dim_size() > 1;
    const bool height = image && axis == 2, width = image && axis == 3;
    const auto& flag = batch ? options_.batch : height ? options_.height : options_.width;
    if ((batch || height || width) && flag) return flag;
    const auto& dim = shape.dim(axis);
    if (!is_open(dim)) return dim.dim_value();
    const auto named = options_.dims.find(name_of(dim, axis));
    if (named != options_.dims.end()) return named->second;
    if (batch) return 1;
    return height ? options_.width : width ? options_.height : std::nullopt;
  }

  /// Returns the name of an open extent; its index where the file gives it none.
  static std::string name_of(const proto::TensorShapeProto::Dimension& dim, int axis) {
    return dim.dim_param().empty() ? std::to_string(axis) : dim.dim_param();
  }

  static bool is_open(const proto::TensorShapeProto::Dimension& dim) {
    return !dim.has_dim_value() || dim.dim_value() == -1;
  }

  /// Fails for an option of an extent that the input does not have.
  void check_options(const proto::TensorShapeProto& shape, const std::string& what) const {
    std::set<std::string> names;
    for (int i = 0; i < shape.dim_size(); ++i) {
      if (is_open(shape.dim(i))) names.insert(name_of(shape.dim(i), i));
    }
    for (const auto& [name, value] : options_.dims) {
      if (!names.contains(name)) file_.fail(what + "has no open extent " + quote(name));
    }
    const std::string dimensions = std::to_string(shape.dim_size()) + " dimensions, and no ";
    if (shape.dim_size() != 4 && (options_.height || options_.width))
      file_.fail(what + "has " + dimensions + "height or width");
    if (shape.dim_size() < 2 && options_.batch) file_.fail(what + "has " + dimensions + "batch");
  }

  Dims input_dims(const proto::TensorShapeProto& shape, const std::string& what) {
    if (shape.dim_size() == 0 || shape.dim_size() > 4) {
      file_.fail(what + "has " + std::to_string(shape.dim_size()) +
                 " dimensions; one to four are read");
    }
    check_options(shape, what);
    Dims dims;
    std::set<std::string> open;
    for (int i = 0; i < shape.dim_size(); ++i) {
      const std::optional<std::int64_t> wanted = extent(shape, i);
      if (!wanted) open.insert(printable(name_of(shape.dim(i), i)));
      dims.push_back(wanted.value_or(1));
      if (dims.back() < 1) file_.fail(what + "has an extent of " + std::to_string(dims.back()));
    }
    if (!open.empty()) {
      std::string names;
      for (const std::string& name : open) names += (names.empty() ? "" : ", ") + name;
      throw InputError(file_.name() + ": " + what + "leaves extents open: " + names,
                       need::OpenDimensions{{open.begin(), open.end()}});
    }
    try {
      elements(dims);
    } catch (const InputError& error) {
      file_.fail(what + error.what());
    }
    return dims;
  }

  void read_node(proto::NodeProto& node) {
    std::vector<const View*> inputs;
    for (const std::string& name : node.input()) {
      const auto found = values_.find(name);
      if (!name.empty() && found == values_.end()) {
        file_.fail("node '" + printable(node_name(node)) + "' (" + printable(node.op_type()) +
                   "): reads '" + printable(name) + "', which " +
                   (left_out_.contains(name) ? "is not computed" : "no node before it computes"));
      }
      inputs.push_back(name.empty() ? nullptr : &found->second);
    }
    while (!inputs.empty() && inputs.back() == nullptr) inputs.pop_back();
    const Operator& row = *find_operator(node.op_type());
    const Node named(file_, node, row.attributes, opset_, draft_.unique(node_name(node)),
                     std::move(inputs));
    const Views outputs = outputs_of(named, row);
    for (std::size_t i = 0; i < named.output_count(); ++i) {
      if (!named.wants_output(i)) continue;
      if (i >= outputs.size()) {  // a mask or indices: an error only if a node reads them
        left_out_.insert(node.output(static_cast<int>(i)));
        continue;
      }
      define(node.output(static_cast<int>(i)), outputs[i]);
    }
  }

  void count_folded(const Node& node, const Views& outputs) {
    if (node.type() == "Constant") return;  // it is in the file, not folded
    for (const View& view : outputs) {
      folded_ += static_cast<std::int64_t>(view.constant().size());
      if (folded_ > kTotalFoldBudget) {
        node.fail("is one folded constant too many: together they would have more than " +
                  std::to_string(kTotalFoldBudget) + " values");
      }
    }
  }

  /// Counts the weights of a node's layers. A few bytes of a file may make many of them: a constant
  /// that is broadcast, or that many nodes read.
  void count_parameters(const Node& node, std::size_t first) {
    for (std::size_t i = first; i < draft_.layers.size(); ++i) {
      const auto& [weights, bias] = draft_.layers[i].parameters;
      parameter_bytes_ += (weights.size() + bias.size()) * sizeof(float);
    }
    file_.require_memory("node '" + printable(node.name()) + "' (" + printable(node.type()) +
                             "): the weights of the layers up to it take",
                         parameter_bytes_);
  }

  Views outputs_of(const Node& node, const Operator& row) {
    try {
      node.check_attributes();
      if (auto folded = row.fold ? row.fold(node) : std::nullopt) {
        count_folded(node, *folded);
        return *std::move(folded);
      }
      if (row.emit == nullptr) {
        node.fail(
            "depends on the model's input; it is only read where all its inputs are constant");
      }
      if (node.input_count() == 0) node.fail("has no input");
      LayerEmitter emitter(draft_, node);
      const std::size_t before = draft_.layers.size();
      Views outputs = row.emit(emitter, node);
      count_parameters(node, before);
      return outputs;
    } catch (const InputError& error) {
      // Errors of views and shapes do not name the node.
      if (std::string_view(error.what()).starts_with(file_.name())) throw;
      node.fail(error.what());
    } catch (
        const std::bad_alloc&) {  // under a limit of addresses; else count_parameters() finds it
      node.fail("no memory for its values after " + size_text(parameter_bytes_) +
                " of weights of other layers: give the program more memory");
    }
  }

  void read_outputs() {
    if (graph_.output_size() == 0) file_.fail("has no output");
    for (const auto& output : graph_.output()) {
      const std::string what = "the output '" + printable(output.name()) + "' ";
      const auto found = values_.find(output.name());
      if (found == values_.end()) {
        file_.fail(what + (left_out_.contains(output.name()) ? "is not computed"
                                                             : "is computed by no node"));
      }
      const View& view = found->second;
      if (view.is_constant()) file_.fail(what + "does not depend on the input");
      const std::string name = printable(output.name(), kLongestName);
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
  std::int64_t opset_ = 0;
  std::int64_t folded_ = 0;                       ///< values of folded constants
  Bytes parameter_bytes_ = 0;                     ///< weights of the draft's layers
  std::unordered_map<std::string, View> values_;  ///< the values that are still to be used
  std::unordered_map<std::string, std::size_t> uses_left_;
  std::set<std::string> defined_;   ///< names of all values, freed ones included
  std::set<std::string> left_out_;  ///< outputs that no operator computes
  Draft draft_;
};

}  // namespace

Draft read_graph(ModelFile& file, const ImportOptions& options) {
  return GraphReader(file, options).read();
}

}  // namespace hios::onnx
