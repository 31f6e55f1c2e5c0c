#include "hios/onnx/read/graph_input.h"

#include <map>
#include <set>

#include "hios/base/error.h"
#include "hios/base/need.h"

namespace hios::onnx {
namespace {

constexpr int kMostDimensions = 6;

class InputReader {
 public:
  InputReader(ModelFile& file, const ImportOptions& options) : file_(file), options_(options) {}

  /// Reads the graph's inputs: those without an initializer.
  std::vector<GraphInput> read(const std::function<bool(const std::string&)>& is_known) {
    std::vector<const proto::ValueInfoProto*> given;
    for (const auto& each : file_.model().graph().input()) {
      // IR 3 lists weights as inputs, too.
      if (!is_known(each.name())) given.push_back(&each);
    }
    if (given.empty()) file_.fail("has no input");
    bool halves = false, others = false;
    for (const auto* each : given) {
      check_type(*each);
      const int element = each->type().tensor_type().elem_type();
      halves = halves || element == proto::TensorProto::FLOAT16;
      others =
          others || element == proto::TensorProto::FLOAT || element == proto::TensorProto::DOUBLE;
    }
    // A file of fp16 is computed in fp32 throughout; next to fp32, its casts to fp16 round.
    file_.set_widens_halves(halves && !others);
    check_options(given);
    settle(given);
    std::vector<GraphInput> inputs;
    for (const auto* each : given) {
      const auto& type = each->type().tensor_type();
      inputs.push_back({each->name(), input_dims(type.shape(), what_of(*each)), type.elem_type()});
    }
    refuse_open();
    check_size(inputs);
    return inputs;
  }

 private:
  static std::string what_of(const proto::ValueInfoProto& input) {
    return "the input '" + printable(input.name()) + "' ";
  }

  /// Fails for an input that is no tensor of numbers or truth values.
  void check_type(const proto::ValueInfoProto& input) {
    const std::string what = what_of(input);
    if (!input.type().has_tensor_type()) file_.fail(what + "is no tensor");
    const auto& type = input.type().tensor_type();
    const int element = type.elem_type();
    if (element_size(element) == 0 || element == proto::TensorProto::BFLOAT16) {
      file_.fail(what + "holds " + type_name(element) +
                 "; floating-point numbers, integers and truth values are read");
    }
    if (!type.has_shape()) file_.fail(what + "has no shape");
    const int dimensions = type.shape().dim_size();
    if (dimensions > kMostDimensions) {
      file_.fail(what + "has " + std::to_string(dimensions) + " dimensions; up to six are read");
    }
  }

  enum class Role { kBatch, kHeight, kWidth, kNone };

  static Role role_of(const proto::TensorShapeProto& shape, int axis) {
    if (axis == 0 && shape.dim_size() > 1) return Role::kBatch;
    if (shape.dim_size() != 4 || axis < 2) return Role::kNone;
    return axis == 2 ? Role::kHeight : Role::kWidth;
  }

  std::optional<std::int64_t> flag_of(Role role) const {
    return role == Role::kBatch    ? options_.batch
           : role == Role::kHeight ? options_.height
           : role == Role::kWidth  ? options_.width
                                   : std::nullopt;
  }

  /// Remembers what the flags of a size replace: the first extent of each role, and all uses of its
  /// name.
  void settle(const std::vector<const proto::ValueInfoProto*>& inputs) {
    for (const auto* input : inputs) {
      const auto& shape = input->type().tensor_type().shape();
      for (int axis = 0; axis < shape.dim_size(); ++axis) {
        const Role role = role_of(shape, axis);
        const auto& dim = shape.dim(axis);
        if (role == Role::kNone) continue;
        replaced_.emplace(role, dim);
        if (!is_open(dim) || dim.dim_param().empty()) continue;
        const auto flag = flag_of(role), value = extent(shape, axis);
        const auto named = options_.dims.find(dim.dim_param());
        if (flag && value == flag && named != options_.dims.end() && named->second != *flag) {
          file_.fail(what_of(*input) + "gets two extents for " + quote(dim.dim_param()) + ", " +
                     std::to_string(*flag) + " and " + std::to_string(named->second) +
                     ": give one of them");
        }
        if (value) settled_.emplace(dim.dim_param(), *value);
      }
    }
  }

  /// Returns true unless an open extent has another name than the first one of its role: such as
  /// the length of a text, which may be the first axis of a table.
  static bool is_of(const proto::TensorShapeProto::Dimension& dim,
                    const proto::TensorShapeProto::Dimension& first) {
    return dim.dim_param().empty() || first.dim_param().empty() ||
           dim.dim_param() == first.dim_param();
  }

  /// Returns the extent of an input's axis: that of its flag, else the file's. Files mark an open
  /// one by a name, or by -1. An open batch is 1, an open height or width as the other one's flag
  /// says; and one of the same name as any of these is the same. A flag replaces the fixed extents
  /// that equal the first one that it replaces: others are no batch, or no size of an image. Empty:
  /// it stays open.
  std::optional<std::int64_t> extent(const proto::TensorShapeProto& shape, int axis) const {
    const Role role = role_of(shape, axis);
    const auto& dim = shape.dim(axis);
    const auto flag = flag_of(role);
    if (!is_open(dim)) {
      const bool replaces = flag && replaced_.at(role).dim_value() == dim.dim_value();
      return replaces ? *flag : dim.dim_value();
    }
    const bool has_role = role != Role::kNone && is_of(dim, replaced_.at(role));
    if (flag && has_role) return flag;
    const auto named = options_.dims.find(name_of(dim, axis));
    if (named != options_.dims.end()) return named->second;
    const auto settled = settled_.find(dim.dim_param());
    if (settled != settled_.end()) return settled->second;
    if (!has_role) return {};
    if (role == Role::kBatch) return 1;
    return role == Role::kHeight  ? options_.width
           : role == Role::kWidth ? options_.height
                                  : std::nullopt;
  }

  /// Returns the name of an open extent; its index where the file gives it none.
  static std::string name_of(const proto::TensorShapeProto::Dimension& dim, int axis) {
    return dim.dim_param().empty() ? std::to_string(axis) : dim.dim_param();
  }

  static bool is_open(const proto::TensorShapeProto::Dimension& dim) {
    return !dim.has_dim_value() || dim.dim_value() == -1;
  }

  /// Fails for an option of an extent that no input has.
  void check_options(const std::vector<const proto::ValueInfoProto*>& inputs) {
    std::set<std::string> names;
    bool batch = false, image = false;
    for (const auto* input : inputs) {
      const auto& shape = input->type().tensor_type().shape();
      for (int i = 0; i < shape.dim_size(); ++i) {
        if (is_open(shape.dim(i))) names.insert(name_of(shape.dim(i), i));
      }
      batch = batch || shape.dim_size() > 1;
      image = image || shape.dim_size() == 4;
    }
    const std::string what = inputs.size() == 1 ? what_of(*inputs.front()) : "the graph ";
    for (const auto& [name, value] : options_.dims) {
      if (!names.contains(name)) file_.fail(what + "has no open extent " + quote(name));
    }
    const std::string has =
        inputs.size() > 1
            ? "has no input with a "
            : "has " + std::to_string(inputs.front()->type().tensor_type().shape().dim_size()) +
                  " dimensions, and no ";
    if (!image && (options_.height || options_.width)) file_.fail(what + has + "height or width");
    if (!batch && options_.batch) file_.fail(what + has + "batch");
  }

  Dims input_dims(const proto::TensorShapeProto& shape, const std::string& what) {
    Dims dims;
    for (int i = 0; i < shape.dim_size(); ++i) {
      const std::optional<std::int64_t> wanted = extent(shape, i);
      if (!wanted) {
        if (open_.empty()) open_of_ = what;
        open_.insert(printable(name_of(shape.dim(i), i)));
      }
      dims.push_back(wanted.value_or(1));
      if (dims.back() < 1) file_.fail(what + "has an extent of " + std::to_string(dims.back()));
    }
    try {
      elements(dims);
    } catch (const InputError& error) {
      file_.fail(what + error.what());
    }
    return dims;
  }

  /// Fails if extents stayed open, with the names of all.
  void refuse_open() {
    if (open_.empty()) return;
    std::string names;
    for (const std::string& name : open_) names += (names.empty() ? "" : ", ") + name;
    throw InputError(file_.name() + ": " + open_of_ + "leaves extents open: " + names,
                     need::OpenDimensions{{open_.begin(), open_.end()}});
  }

  /// Fails if all inputs together have more values than a tensor may have.
  void check_size(const std::vector<GraphInput>& inputs) {
    Dims sum{0};
    for (const GraphInput& input : inputs) sum.front() += elements(input.dims);
    if (sum.front() > kMaxExtent && inputs.size() > 1) {
      file_.fail("has inputs of " + std::to_string(sum.front()) +
                 " values together; 2^31 - 1 are read");
    }
  }

  ModelFile& file_;
  const ImportOptions& options_;
  std::map<Role, proto::TensorShapeProto::Dimension> replaced_;  ///< the first extent of each role
  std::map<std::string, std::int64_t> settled_;                  ///< open extents, by name
  std::set<std::string> open_;  ///< names of the extents that stay open
  std::string open_of_;         ///< the first input that has one
};

}  // namespace

std::vector<GraphInput> read_inputs(ModelFile& file, const ImportOptions& options,
                                    const std::function<bool(const std::string&)>& is_known) {
  return InputReader(file, options).read(is_known);
}

}  // namespace hios::onnx
