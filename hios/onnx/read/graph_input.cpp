#include "hios/onnx/read/graph_input.h"

#include <set>

#include "hios/base/error.h"
#include "hios/base/need.h"

namespace hios::onnx {
namespace {

constexpr int kMostDimensions = 6;

class InputReader {
 public:
  InputReader(ModelFile& file, const ImportOptions& options) : file_(file), options_(options) {}

  /// Reads the graph's one input: the only one without an initializer.
  GraphInput read(const std::function<bool(const std::string&)>& is_known) {
    const proto::ValueInfoProto* input = nullptr;
    for (const auto& each : file_.model().graph().input()) {
      if (is_known(each.name())) continue;  // IR 3 lists weights as inputs, too
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
    return {input->name(), input_dims(type.shape(), what)};
  }

 private:
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
    if (shape.dim_size() == 0 || shape.dim_size() > kMostDimensions) {
      file_.fail(what + "has " + std::to_string(shape.dim_size()) +
                 " dimensions; one to six are read");
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

  ModelFile& file_;
  const ImportOptions& options_;
};

}  // namespace

GraphInput read_input(ModelFile& file, const ImportOptions& options,
                      const std::function<bool(const std::string&)>& is_known) {
  return InputReader(file, options).read(is_known);
}

}  // namespace hios::onnx
