#include "hios/onnx/model_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>

#include "hios/base/error.h"
#include "hios/base/files/descriptor.h"
#include "hios/base/need.h"
#include "hios/base/numbers/half.h"

namespace hios::onnx {
namespace {

/// Opens a file of a folder for reading. O_NONBLOCK: opening a named pipe must not block.
Descriptor open_in(int folder, const std::string& name, int flags) {
  return Descriptor(openat(folder, name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags));
}

/// Returns the size of a regular file; empty for anything else.
std::optional<Bytes> regular_size(const Descriptor& file) {
  struct stat status {};
  if (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  return static_cast<Bytes>(status.st_size);
}

bool read_at(const Descriptor& file, std::size_t offset, std::span<char> to) {
  while (!to.empty()) {
    const ssize_t got = pread(file.get(), to.data(), to.size(), static_cast<off_t>(offset));
    if (got <= 0) return false;
    to = to.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::size_t>(got);
  }
  return true;
}

template <class From>
From load(const char* from) {
  From value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class From, class To>
void widen(const std::string& bytes, std::vector<To>& to) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i] = static_cast<To>(load<From>(bytes.data() + i * sizeof(From)));
  }
}

/// Converts raw values, little-endian as this machine is.
void from_bytes(const std::string& bytes, int type, Constant& to) {
  switch (type) {
    case proto::TensorProto::FLOAT:
      return widen<float>(bytes, to.floats);
    case proto::TensorProto::DOUBLE:
      return widen<double>(bytes, to.floats);
    case proto::TensorProto::FLOAT16:
      for (std::size_t i = 0; i < to.floats.size(); ++i) {
        to.floats[i] = to_float(Half{load<std::uint16_t>(bytes.data() + 2 * i)});
      }
      return;
    case proto::TensorProto::BFLOAT16:
      for (std::size_t i = 0; i < to.floats.size(); ++i) {
        const std::uint32_t bits = std::uint32_t{load<std::uint16_t>(bytes.data() + 2 * i)} << 16;
        std::memcpy(&to.floats[i], &bits, sizeof bits);
      }
      return;
    case proto::TensorProto::INT64:
      return widen<std::int64_t>(bytes, to.integers);
    case proto::TensorProto::INT32:
      return widen<std::int32_t>(bytes, to.integers);
    case proto::TensorProto::INT16:
      return widen<std::int16_t>(bytes, to.integers);
    case proto::TensorProto::INT8:
      return widen<std::int8_t>(bytes, to.integers);
    case proto::TensorProto::UINT8:
    case proto::TensorProto::BOOL:
      return widen<std::uint8_t>(bytes, to.integers);
    case proto::TensorProto::UINT16:
      return widen<std::uint16_t>(bytes, to.integers);
    case proto::TensorProto::UINT32:
      return widen<std::uint32_t>(bytes, to.integers);
    default:
      return widen<std::uint64_t>(bytes, to.integers);
  }
}

/// Converts the values of the message's typed lists, the other form of a tensor. Returns false if
/// the list of its type has another length.
bool from_lists(const proto::TensorProto& tensor, Constant& to) {
  const auto take = [](const auto& list, auto& values, auto&& convert) {
    if (static_cast<std::size_t>(list.size()) != values.size()) return false;
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = convert(list[static_cast<int>(i)]);
    return true;
  };
  const auto as_float = [](auto value) { return static_cast<float>(value); };
  const auto as_integer = [](auto value) { return static_cast<std::int64_t>(value); };
  switch (tensor.data_type()) {
    case proto::TensorProto::FLOAT:
      return take(tensor.float_data(), to.floats, as_float);
    case proto::TensorProto::DOUBLE:
      return take(tensor.double_data(), to.floats, as_float);
    case proto::TensorProto::FLOAT16:
      return take(tensor.int32_data(), to.floats,
                  [](auto value) { return to_float(Half{static_cast<std::uint16_t>(value)}); });
    case proto::TensorProto::BFLOAT16:
      return take(tensor.int32_data(), to.floats, [](auto value) {
        const std::uint32_t bits = static_cast<std::uint32_t>(value) << 16;
        float widened;
        std::memcpy(&widened, &bits, sizeof widened);
        return widened;
      });
    case proto::TensorProto::INT64:
      return take(tensor.int64_data(), to.integers, as_integer);
    case proto::TensorProto::UINT32:
    case proto::TensorProto::UINT64:
      return take(tensor.uint64_data(), to.integers, as_integer);
    default:
      return take(tensor.int32_data(), to.integers, as_integer);
  }
}

/// Frees the memory of the tensor's values; clearing the fields would keep it.
void release(proto::TensorProto& tensor) {
  const std::unique_ptr<std::string> raw(tensor.release_raw_data());
  google::protobuf::RepeatedField<float>().Swap(tensor.mutable_float_data());
  google::protobuf::RepeatedField<double>().Swap(tensor.mutable_double_data());
  google::protobuf::RepeatedField<std::int32_t>().Swap(tensor.mutable_int32_data());
}

/// Returns true if a path stays below its folder: relative, without "..".
bool stays_inside(const std::filesystem::path& path) {
  if (path.empty() || path.is_absolute()) return false;
  if (path.native().find('\0') != std::string::npos) return false;  // the kernel would cut it here
  for (const auto& name : path) {
    if (name == "..") return false;
  }
  return true;
}

}  // namespace

std::string location_of(const proto::TensorProto& tensor) {
  if (tensor.data_location() != proto::TensorProto::EXTERNAL) return {};
  std::string location;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") location = entry.value();
  }
  return location;
}

std::string type_name(int type) {
  return proto::TensorProto_DataType_IsValid(type)
             ? proto::TensorProto_DataType_Name(static_cast<proto::TensorProto_DataType>(type))
             : "type " + std::to_string(type);
}

std::size_t element_size(int type) {
  switch (type) {
    case proto::TensorProto::BOOL:
    case proto::TensorProto::INT8:
    case proto::TensorProto::UINT8:
      return 1;
    case proto::TensorProto::FLOAT16:
    case proto::TensorProto::BFLOAT16:
    case proto::TensorProto::INT16:
    case proto::TensorProto::UINT16:
      return 2;
    case proto::TensorProto::FLOAT:
    case proto::TensorProto::INT32:
    case proto::TensorProto::UINT32:
      return 4;
    case proto::TensorProto::DOUBLE:
    case proto::TensorProto::INT64:
    case proto::TensorProto::UINT64:
      return 8;
    default:
      return 0;
  }
}

Constant::Type type_of_element(int type) {
  switch (type) {
    case proto::TensorProto::FLOAT:
    case proto::TensorProto::FLOAT16:
    case proto::TensorProto::BFLOAT16:
    case proto::TensorProto::DOUBLE:
      return Constant::Type::kFloat;
    case proto::TensorProto::BOOL:
      return Constant::Type::kBool;
    default:
      return Constant::Type::kInteger;
  }
}

ModelFile::ModelFile(const std::filesystem::path& file, const ReadLimits& limits)
    : folder_(file.parent_path().empty() ? "." : file.parent_path()),
      name_(printable(file.string(), 200)),
      limits_(limits),
      model_(std::make_unique<proto::ModelProto>()),
      file_(open_in(AT_FDCWD, file.string(), 0)) {
  if (!file_.is_open()) fail(std::string("cannot be opened: ") + std::strerror(errno));
  const auto size = regular_size(file_);
  if (!size) fail("is not a regular file");
  if (*size > limits.max_weights_bytes) {
    throw InputError(name_ + ": holds " + std::to_string(*size) +
                         " bytes, more than the limit of " +
                         std::to_string(limits.max_weights_bytes),
                     need::LargerInput{});
  }
  require_memory("reading it takes", *size);
  bytes_left_ = limits.max_weights_bytes - *size;
  auto stored = parse_model(file_.get(), *size, *model_);
  if (!stored) fail("is no ONNX model, or is truncated");
  stored_ = *std::move(stored);
}

void ModelFile::fail(const std::string& message) const { throw InputError(name_ + ": " + message); }

void ModelFile::require_memory(const std::string& what, Bytes needed) const {
  require_available(name_ + ": " + what, needed, limits_);
}

void ModelFile::read_external(const proto::TensorProto& tensor, std::size_t expected,
                              const std::function<std::span<char>()>& room) {
  const std::string location = location_of(tensor);
  std::uint64_t offset = 0, length = expected;
  for (const auto& entry : tensor.external_data()) {
    std::uint64_t* number = entry.key() == "offset"   ? &offset
                            : entry.key() == "length" ? &length
                                                      : nullptr;
    if (number == nullptr) continue;
    const std::string& text = entry.value();
    if (text.empty() || text.size() > 18 ||
        text.find_first_not_of("0123456789") != std::string::npos) {
      fail("the external data of '" + printable(tensor.name()) + "' names no " + entry.key());
    }
    *number = std::stoull(text);
  }
  const std::string where =
      "the data of '" + printable(tensor.name()) + "' in '" + printable(location) + "' ";
  if (!stays_inside(location)) fail(where + "lies outside the model's folder");
  if (length != expected) {
    fail(where + "has " + std::to_string(length) + " bytes where " + std::to_string(expected) +
         " are needed");
  }
  // Folder by folder, so that no link on the way leads out of the model's folder.
  Descriptor at = open_in(AT_FDCWD, folder_.string(), O_DIRECTORY);
  const std::filesystem::path path(location);
  for (auto name = path.begin(); name != path.end(); ++name) {
    const bool last = std::next(name) == path.end();
    at = open_in(at.get(), name->string(), O_NOFOLLOW | (last ? 0 : O_DIRECTORY));
    if (at.is_open()) continue;
    if (errno == ENOENT) fail(where + "is absent: put it next to the model");
    const bool link = errno == ELOOP || errno == ENOTDIR;
    fail(where + "cannot be opened" +
         (link ? " (links are not followed)" : std::string(": ") + std::strerror(errno)));
  }
  const auto size = regular_size(at);
  if (!size) fail(where + "is not in a regular file");
  if (offset > *size || length > *size - offset) fail(where + "ends too early");
  if (length > bytes_left_) {
    throw InputError(name_ + ": " + where + "exceeds the limit of the input's size",
                     need::LargerInput{});
  }
  bytes_left_ -= length;
  if (!read_at(at, offset, room())) fail(where + "cannot be read");
}

std::shared_ptr<const Constant> ModelFile::take(proto::TensorProto& tensor) {
  const std::string what = "tensor '" + printable(tensor.name()) + "' ";
  const std::size_t width = element_size(tensor.data_type());
  if (width == 0) fail(what + "holds " + type_name(tensor.data_type()) + ", which is not read");
  Dims dims(tensor.dims().begin(), tensor.dims().end());
  std::size_t count = 0;
  try {
    count = static_cast<std::size_t>(elements(dims));
  } catch (const InputError& error) {
    fail(what + error.what());
  }
  const bool outside = tensor.data_location() == proto::TensorProto::EXTERNAL;
  const auto stored = stored_.find(&tensor);
  const bool in_file = !outside && stored != stored_.end();
  const bool raw = tensor.has_raw_data() || in_file;
  const std::size_t raw_size = in_file ? stored->second.size : tensor.raw_data().size();
  if (raw && raw_size != count * width) {
    fail(what + "has " + std::to_string(raw_size) + " bytes for " + std::to_string(count) +
         " values of " + std::to_string(width));
  }
  // Checked before the allocation: the file must hold as many values.
  const std::size_t listed = std::max({static_cast<std::size_t>(tensor.float_data_size()),
                                       static_cast<std::size_t>(tensor.int32_data_size()),
                                       static_cast<std::size_t>(tensor.int64_data_size()),
                                       static_cast<std::size_t>(tensor.double_data_size()),
                                       static_cast<std::size_t>(tensor.uint64_data_size())});
  if (!outside && !raw && listed != count) {
    fail(what + "has " + std::to_string(listed) + " values where its dimensions say " +
         std::to_string(count));
  }
  auto constant = std::make_shared<Constant>();
  constant->type = type_of_element(tensor.data_type());
  constant->name = printable(tensor.name());
  constant->element = type_name(tensor.data_type());
  const Bytes held =
      count * (constant->type == Constant::Type::kFloat ? sizeof(float) : sizeof(std::int64_t));
  // fp32 is read into its place.
  const bool read = outside || in_file;
  const bool direct = read && tensor.data_type() == proto::TensorProto::FLOAT;
  require_memory(what + "takes", held + (read && !direct ? count * width : 0));
  std::string bytes;
  const auto room = [&]() -> std::span<char> {
    if (!direct) return bytes = std::string(count * width, '\0');
    constant->floats.resize(count);
    return {reinterpret_cast<char*>(constant->floats.data()), count * width};
  };
  if (outside) read_external(tensor, count * width, room);
  if (in_file) {
    if (!read_at(file_, stored->second.offset, room()))
      fail(what + "cannot be read from the file any more");
    stored_.erase(stored);
  }
  if (direct) {
    release(tensor);
    return constant;
  }
  if (constant->type == Constant::Type::kFloat) {
    constant->floats.resize(count);
  } else {
    constant->integers.resize(count);
  }
  if (outside || raw) {
    from_bytes(read ? bytes : tensor.raw_data(), tensor.data_type(), *constant);
  } else if (!from_lists(tensor, *constant)) {
    fail(what + "has values of another type than it declares");
  }
  release(tensor);
  return constant;
}

}  // namespace hios::onnx
