#include "hios/onnx/read/node_reader.h"

#include <algorithm>
#include <new>

#include "hios/base/error.h"
#include "hios/base/size_text.h"
#include "hios/onnx/operators/constants/compute.h"
#include "hios/onnx/operators/constants/values.h"
#include "hios/onnx/read/narrow_integers.h"
#include "hios/onnx/read/types.h"

namespace hios::onnx {
namespace {

constexpr std::size_t kLongestNodeName = 200;
constexpr const char* kWithoutIndices =
    "a MaxPool of volumes, or of more than 2^24 values, gives its values alone: export it without "
    "indices, or cut the file before they are read";
// Limits of the values of all computed constants together: as many as four of the largest, and so
// often those that the file holds. Networks that standardise their weights compute ten times as
// many as they hold.
constexpr std::size_t kTotalFoldBudget = 4 * kFoldBudget;
constexpr std::size_t kFoldsOfTheFile = 32;
/// Computed constants from this size on are checked against the memory.
constexpr std::size_t kLargeConstant = std::size_t{1} << 20;
// Limits of nodes in functions, branches and iterations.
constexpr std::size_t kDeepestBody = 50, kMostBodyNodes = 20'000;
constexpr Bytes kMostBodyBytes = Bytes{1} << 30;

bool is_standard(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

}  // namespace

/// Collects the operators of a graph that are not read. Branches that are not taken may have some.
class NodeReader::UnknownOperators {
 public:
  explicit UnknownOperators(const NodeReader& reader) : reader_(reader) {}

  void look_at(const proto::NodeProto& node) {
    if (const auto* function = reader_.function_of(node)) {
      const std::string name = printable(function->name());
      if (!active_.insert(function).second)
        reader_.file_.fail("the function '" + name + "' calls itself");
      if (seen_.insert(function).second) {
        for (const auto& inner : function->node()) look_at(inner);
      }
      active_.erase(function);
      return;
    }
    const std::string& type = node.op_type();
    if (is_standard(node.domain()) && find_operator(type)) return;
    const std::string full = is_standard(node.domain()) ? type : node.domain() + "." + type;
    auto& entry = unknown_[printable(full)];
    if (entry.second++ == 0) entry.first = name_of(node);
  }

  void refuse() const {
    if (unknown_.empty()) return;
    std::string list;
    std::size_t named = 0;
    for (const auto& [type, entry] : unknown_) {
      if (++named > 12) break;
      list += (list.empty() ? "" : ", ") + type + " (" +
              (entry.second > 1 ? std::to_string(entry.second) + " nodes, first " : "node ") + "'" +
              printable(entry.first, 40) + "')";
    }
    if (unknown_.size() > 12) list += " and " + std::to_string(unknown_.size() - 12) + " more";
    // How many boxes it returns depends on the values, so no plan can be made for what follows.
    if (unknown_.contains("NonMaxSuppression"))
      list += "; cut the file before NonMaxSuppression, with its boxes and scores as outputs";
    reader_.file_.fail("has operators that are not read: " + list);
  }

 private:
  const NodeReader& reader_;
  std::set<const proto::FunctionProto*> active_, seen_;
  /// By type: the first node, and the number of nodes.
  std::map<std::string, std::pair<std::string, int>> unknown_;
};

NodeReader::NodeReader(ModelFile& file, const LayerKernel& kernel, std::int64_t opset, Draft& draft)
    : file_(file), kernel_(kernel), opset_(opset), draft_(draft) {
  for (const auto& function : file.model().functions()) {
    if (functions_.emplace(Key{function.domain(), function.name()}, &function).second) continue;
    file.fail("has two functions '" + printable(function.name()) + "' of one domain");
  }
}

void NodeReader::refuse_unknown_operators() const {
  UnknownOperators unknown(*this);
  for (const auto& node : file_.model().graph().node()) unknown.look_at(node);
  unknown.refuse();
}

std::string NodeReader::name_of(const proto::NodeProto& node) {
  if (!node.name().empty()) return printable(node.name(), kLongestNodeName);
  for (const std::string& output : node.output()) {
    if (!output.empty()) return printable(output, kLongestNodeName);
  }
  return printable(node.op_type(), kLongestNodeName);
}

void NodeReader::define(const std::string& name, View view) {
  if (values_.define(name, std::move(view))) return;
  file_.fail("the value '" + printable(name) + "' is computed twice");
}

const proto::FunctionProto* NodeReader::function_of(const proto::NodeProto& node) const {
  const auto found = functions_.find({node.domain(), node.op_type()});
  return found == functions_.end() ? nullptr : found->second;
}

std::vector<const View*> NodeReader::inputs_of(const proto::NodeProto& node) const {
  std::vector<const View*> inputs;
  for (const std::string& name : node.input()) {
    const View* value = values_.find(name);
    if (!name.empty() && value == nullptr) {
      file_.fail("node '" + printable(name_of(node)) + "' (" + printable(node.op_type()) +
                 "): reads '" + printable(name) + "', which " +
                 why_unknown(name).value_or("no node before it computes"));
    }
    inputs.push_back(value);
  }
  while (!inputs.empty() && inputs.back() == nullptr) inputs.pop_back();
  return inputs;
}

void NodeReader::set_outputs(const proto::NodeProto& node, const Views& outputs) {
  for (int i = 0; i < node.output_size(); ++i) {
    const std::string& name = node.output(i);
    if (name.empty()) continue;
    if (static_cast<std::size_t>(i) < outputs.size()) {
      define(name, outputs[static_cast<std::size_t>(i)]);
    } else {  // a mask or indices: an error only if a node reads them
      left_out_[name] = node.op_type() == "MaxPool" ? std::string("; ") + kWithoutIndices : "";
    }
  }
}

std::optional<std::string> NodeReader::why_unknown(const std::string& name) const {
  const auto found = left_out_.find(name);
  if (found == left_out_.end()) return {};
  return "is not computed" + found->second;
}

void NodeReader::read(proto::NodeProto& node) {
  const std::vector<std::string> reads = names_read(node);
  if (const auto* function = function_of(node)) {
    set_outputs(node, call(*function, node));
  } else {
    const Operator* row = is_standard(node.domain()) ? find_operator(node.op_type()) : nullptr;
    if (row == nullptr) {  // in a branch: refuse_unknown_operators() looks at no branches
      UnknownOperators unknown(*this);
      unknown.look_at(node);
      unknown.refuse();
    }
    const Node named(file_, node, row->attributes, opset_, draft_.unique(name_of(node)),
                     inputs_of(node));
    set_outputs(node, outputs_of(named, *row, values_.last_uses(reads)));
  }
  values_.release(reads);
}

Views NodeReader::outputs_of(const Node& node, const Operator& row,
                             const std::vector<const Constant*>& last_uses) {
  try {
    node.check_attributes();
    check_integers(node);
    if (node.type() == "If") return choose_branch(node);
    if (node.type() == "Loop") return iterate(node);
    std::optional<Views> folded = row.fold ? row.fold(node) : std::nullopt;
    if (!folded && row.emit != nullptr && has_only_constants(node))
      folded = with_types(node, compute_constants(node, row, kernel_, operations_));
    if (folded) {
      for (std::size_t i = 0; i < folded->size(); ++i)
        (*folded)[i] = wrapped(node, (*folded)[i], narrow_element(node, i));
      count_folded(node, *folded);
      return *std::move(folded);
    }
    if (row.emit == nullptr) {
      node.fail(std::string("depends on the model's input, but is only read with constants") +
                kSimplify);
    }
    if (node.input_count() == 0) node.fail("has no input");
    return emitted(node, row, last_uses);
  } catch (const InputError& error) {
    // Errors of views and shapes do not name the node.
    if (std::string_view(error.what()).starts_with(file_.name())) throw;
    node.fail(error.what());
  } catch (const std::bad_alloc&) {  // under a limit of addresses; else the counts find it
    node.fail("no memory for its values after " + size_text(parameter_bytes_) +
              " of weights of other layers: give the program more memory");
  }
}

/// Adds the layers of a node with a computed input.
Views NodeReader::emitted(const Node& node, const Operator& row,
                          const std::vector<const Constant*>& last_uses) {
  check_input_types(node);
  check_narrow_integers(node);
  const std::optional<std::vector<View>> numbers = with_numbers(node);
  std::vector<const View*> inputs;
  for (std::size_t i = 0; numbers && i < numbers->size(); ++i)
    inputs.push_back(node.has(i) ? &(*numbers)[i] : nullptr);
  const Node given = numbers ? node.with_inputs(std::move(inputs)) : node;
  LayerEmitter emitter(draft_, given, last_uses);
  const std::size_t before = draft_.layers.size();
  Views outputs = row.emit(emitter, given);
  count_parameters(node, before);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].is_constant()) continue;
    const Constant::Type type = output_type(node, i);
    const int element = type == Constant::Type::kInteger ? narrow_element(node, i) : 0;
    outputs[i] = wrapped(emitter, node, outputs[i], element);
    outputs[i].computed_type = type;
    outputs[i].computed_element = element;
  }
  return outputs;
}

Views NodeReader::call(const proto::FunctionProto& function, const proto::NodeProto& node) {
  std::int64_t opset = opset_;
  for (const auto& import : function.opset_import()) {
    if (is_standard(import.domain())) opset = import.version();
  }
  const std::string name = draft_.unique(name_of(node));
  const std::string what = "node '" + printable(name) + "' (" + printable(node.op_type()) + "): ";
  for (const auto& attribute : node.attribute()) {
    if (takes_attribute(function, attribute.name()) || is_annotation(attribute.name())) continue;
    file_.fail(what + "its attribute '" + printable(attribute.name()) + "' is not read");
  }
  std::vector<const View*> inputs = inputs_of(node);
  if (inputs.size() > static_cast<std::size_t>(function.input_size())) {
    file_.fail(what + "has " + std::to_string(inputs.size()) + " inputs, and its function takes " +
               std::to_string(function.input_size()));
  }
  inputs.resize(static_cast<std::size_t>(function.input_size()));
  std::swap(opset, opset_);
  Views outputs = read_body(function_body(function, node, name), inputs, name);
  std::swap(opset, opset_);
  return outputs;
}

Views NodeReader::choose_branch(const Node& node) {
  if (!node.input(0).is_constant())
    node.fail("its condition depends on the model's input: export the branch that is meant");
  const std::vector<std::int64_t> condition = node.integers(0);
  if (condition.size() != 1) node.fail("its condition is no single value");
  const bool yes = condition.front() != 0;
  return read_body(graph_body(node.graph(yes ? "then_branch" : "else_branch"), node.name()), {},
                   node.name());
}

/// Reads the body of a Loop as often as it runs, one iteration after the other.
Views NodeReader::iterate(const Node& node) {
  const auto known = [&](std::size_t input, std::int64_t or_else) {
    if (!node.has(input)) return or_else;
    if (!node.input(input).is_constant()) {
      node.fail("the number of its iterations depends on the model's input: export a fixed number");
    }
    const std::vector<std::int64_t> values = node.integers(input);
    if (values.size() != 1) node.fail("its limits are no single values");
    return values.front();
  };
  const std::int64_t limit = known(0, std::numeric_limits<std::int64_t>::max());
  bool goes_on = known(1, 1) != 0;
  const proto::GraphProto& graph = node.graph("body");
  const std::size_t carried = node.input_count() > 2 ? node.input_count() - 2 : 0;
  const auto results = static_cast<std::size_t>(graph.output_size());
  if (static_cast<std::size_t>(graph.input_size()) != carried + 2 || results < carried + 1) {
    node.fail("its body has another number of inputs and outputs than it carries on");
  }
  Views state;
  for (std::size_t i = 0; i < carried; ++i) state.push_back(node.input(i + 2));
  std::vector<std::vector<View>> scanned(results - carried - 1);
  for (std::int64_t i = 0; i < limit && goes_on; ++i) {
    const View index = integer_view({i}, {}),
               on = constant_view({ConstantType::kBool, {}, {1}}, {});
    std::vector<const View*> inputs{&index, &on};
    for (const View& view : state) inputs.push_back(&view);
    const std::string name = node.name() + "/" + std::to_string(i);
    const Views made = read_body(graph_body(graph, name), inputs, name);
    if (!made[0].is_constant() || elements(made[0].dims) != 1) {
      node.fail("whether it goes on depends on the model's input: export a fixed number");
    }
    goes_on = integers_of(made[0]).front() != 0;
    state.assign(made.begin() + 1, made.begin() + 1 + static_cast<std::ptrdiff_t>(carried));
    for (std::size_t k = 0; k < scanned.size(); ++k) {
      scanned[k].push_back(insert_axis(made[carried + 1 + k], 0));
    }
  }
  for (std::size_t k = 0; k < scanned.size(); ++k) {
    const bool wanted = node.wants_output(carried + k);
    state.push_back(wanted ? stacked(node, scanned[k]).front() : View{});
  }
  return state;
}

/// Joins what the iterations of a Loop made, along a first axis.
Views NodeReader::stacked(const Node& loop, const std::vector<View>& results) {
  if (results.empty()) loop.fail("has no iteration that makes its outputs");
  proto::NodeProto concat;
  concat.set_op_type("Concat");
  auto& axis = *concat.add_attribute();
  axis.set_name("axis");
  axis.set_type(proto::AttributeProto::INT);
  axis.set_i(0);
  std::vector<const View*> inputs;
  for (const View& result : results) inputs.push_back(&result);
  const Operator& row = *find_operator("Concat");
  const Node node(file_, concat, row.attributes, opset_, draft_.unique(loop.name() + ".all"),
                  std::move(inputs));
  return outputs_of(node, row);
}

Views NodeReader::read_body(Body body, const std::vector<const View*>& inputs,
                            const std::string& name) {
  body_nodes_ += 1 + body.nodes.size();  // an iteration without a node takes time, too
  for (const auto& node : body.nodes) body_bytes_ += node.ByteSizeLong();
  if (depth_ >= kDeepestBody || body_nodes_ > kMostBodyNodes || body_bytes_ > kMostBodyBytes) {
    file_.fail(
        "node '" + printable(name) + "': functions, branches and iterations go deeper than " +
        std::to_string(kDeepestBody) + ", or have more than " + std::to_string(kMostBodyNodes) +
        " nodes or " + size_text(kMostBodyBytes) + ": simplify the file");
  }
  ++depth_;
  values_.add_uses(body.inputs);  // held until the end
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] != nullptr) define(body.inputs[i], *inputs[i]);
  }
  for (const auto& node : body.nodes) values_.add_uses(names_read(node));
  values_.add_uses(body.outputs);
  for (auto& node : body.nodes) read(node);
  Views outputs;
  for (const std::string& output : body.outputs) {
    const View* value = values_.find(output);
    if (value == nullptr) {
      file_.fail("node '" + printable(name) + "': its output '" + printable(output) + "' " +
                 why_unknown(output).value_or("is computed by no node"));
    }
    outputs.push_back(*value);
  }
  values_.release(body.outputs);
  values_.release(body.inputs);
  --depth_;
  return outputs;
}

/// Counts the values that were computed, and not those of the inputs that a view returns.
void NodeReader::count_folded(const Node& node, const Views& outputs) {
  std::set<const Constant*> counted;
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    if (node.has(i) && node.input(i).is_constant()) counted.insert(&node.input(i).constant());
  }
  for (const View& view : outputs) {
    if (!counted.insert(&view.constant()).second) continue;
    const std::size_t size = view.constant().size();
    if (node.type() == "Constant") {  // it is in the file; the same one in each iteration
      if (depth_ == 0) in_file_ += size;
      continue;
    }
    folded_ += size;
    const std::size_t most = kTotalFoldBudget + kFoldsOfTheFile * in_file_;
    if (folded_ > most) {
      node.fail("is one folded constant too many: together they would have more than " +
                std::to_string(most) + " values" + kSimplify);
    }
    if (size < kLargeConstant) continue;
    file_.require_memory("node '" + printable(node.name()) + "' (" + printable(node.type()) +
                             "): the constants up to it take",
                         values_.constant_bytes() + view.constant().size_bytes());
  }
}

/// Counts the weights of a node's layers. A few bytes of a file may make many of them: a constant
/// that is broadcast, or that many nodes read.
void NodeReader::count_parameters(const Node& node, std::size_t first) {
  for (std::size_t i = first; i < draft_.layers.size(); ++i) {
    const auto& [weights, bias] = draft_.layers[i].parameters;
    parameter_bytes_ += (weights.size() + bias.size()) * sizeof(float);
  }
  file_.require_memory("node '" + printable(node.name()) + "' (" + printable(node.type()) +
                           "): the weights of the layers up to it take",
                       parameter_bytes_);
}

}  // namespace hios::onnx
