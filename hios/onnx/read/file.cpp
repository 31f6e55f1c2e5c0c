#include "hios/onnx/read/file.h"

#include <fcntl.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <limits>
#include <span>

#include "hios/base/error.h"
#include "hios/base/need.h"
#include "hios/base/numbers/half.h"

namespace hios::onnx {
namespace {

constexpr int kMaxNesting = 100;

/// A file that is open; closed at the end.
class OpenFile {
 public:
  /// Where it is not a regular file, or cannot be opened, is_regular() is false. Waits for nothing.
  OpenFile(int folder, const std::string& name, int flags)
      : number_(openat(folder, name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags)) {
    if (number_ < 0 || fstat(number_, &status_) != 0) status_.st_mode = 0;
  }
  ~OpenFile() {
    if (number_ >= 0) close(number_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int number() const { return number_; }
  bool is_regular() const { return S_ISREG(status_.st_mode); }
  bool is_folder() const { return S_ISDIR(status_.st_mode); }
  Bytes size() const { return static_cast<Bytes>(status_.st_size); }

 private:
  int number_;
  struct stat status_ {};
};

bool read_at(int file, std::size_t offset, std::span<char> to) {
  while (!to.empty()) {
    const ssize_t got = pread(file, to.data(), to.size(), static_cast<off_t>(offset));
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

Constant::Type kind_of(int type) {
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

/// From bytes in the machine's (little-endian) order.
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

/// From the lists of numbers in which a message may hold them instead; false: not as many.
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

/// Gives the memory of the tensor's values back: cleared fields would keep it.
void release(proto::TensorProto& tensor) {
  const std::unique_ptr<std::string> raw(tensor.release_raw_data());
  google::protobuf::RepeatedField<float>().Swap(tensor.mutable_float_data());
  google::protobuf::RepeatedField<double>().Swap(tensor.mutable_double_data());
  google::protobuf::RepeatedField<std::int32_t>().Swap(tensor.mutable_int32_data());
}

/// A name below the folder: no "..", not from the root.
bool stays_inside(const std::filesystem::path& path) {
  if (path.empty() || path.is_absolute()) return false;
  if (path.native().find('\0') != std::string::npos) return false;  // where the kernel would cut it
  for (const auto& part : path) {
    if (part == "..") return false;
  }
  return true;
}

}  // namespace

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

ModelFile::ModelFile(const std::filesystem::path& file, const ReadLimits& limits)
    : folder_(file.parent_path().empty() ? "." : file.parent_path()),
      name_(printable(file.string(), 200)),
      model_(std::make_unique<proto::ModelProto>()) {
  const OpenFile open(AT_FDCWD, file.string(), 0);
  if (open.number() < 0) fail(std::string("cannot be opened: ") + std::strerror(errno));
  if (!open.is_regular()) fail("is not a regular file");
  if (open.size() > limits.max_weights_bytes) {
    throw InputError(name_ + ": holds " + std::to_string(open.size()) +
                         " bytes, more than the limit of " +
                         std::to_string(limits.max_weights_bytes),
                     need::LargerInput{});
  }
  left_ = limits.max_weights_bytes - open.size();
  google::protobuf::io::FileInputStream stream(open.number());
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetTotalBytesLimit(std::numeric_limits<int>::max());
  coded.SetRecursionLimit(kMaxNesting);
  if (!model_->ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage() ||
      !model_->has_graph()) {
    fail("is no ONNX model, or is cut short");
  }
}

void ModelFile::fail(const std::string& message) const { throw InputError(name_ + ": " + message); }

std::string ModelFile::external(const proto::TensorProto& tensor, std::size_t expected) {
  std::string location;
  std::uint64_t offset = 0, length = expected;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") location = entry.value();
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
  // Step by step, so that no link on the way leads out of the folder.
  auto at = std::make_unique<OpenFile>(AT_FDCWD, folder_.string(), O_DIRECTORY);
  const std::filesystem::path path(location);
  for (auto part = path.begin(); part != path.end(); ++part) {
    const bool last = std::next(part) == path.end();
    at = std::make_unique<OpenFile>(at->number(), part->string(),
                                    O_NOFOLLOW | (last ? 0 : O_DIRECTORY));
    if (at->number() < 0) fail(where + "cannot be opened (links are not followed)");
  }
  if (!at->is_regular()) fail(where + "is not in a regular file");
  if (offset > at->size() || length > at->size() - offset) fail(where + "ends too early");
  if (length > left_) {
    throw InputError(name_ + ": " + where + "goes beyond the limit of the input's size",
                     need::LargerInput{});
  }
  left_ -= length;
  std::string bytes(length, '\0');
  if (!read_at(at->number(), offset, bytes)) fail(where + "cannot be read");
  return bytes;
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
  const bool raw = tensor.has_raw_data();
  if (raw && tensor.raw_data().size() != count * width) {
    fail(what + "has " + std::to_string(tensor.raw_data().size()) + " bytes for " +
         std::to_string(count) + " values of " + std::to_string(width));
  }
  // Before anything so large is allocated: the file must hold it.
  const std::size_t listed = std::max({static_cast<std::size_t>(tensor.float_data_size()),
                                       static_cast<std::size_t>(tensor.int32_data_size()),
                                       static_cast<std::size_t>(tensor.int64_data_size()),
                                       static_cast<std::size_t>(tensor.double_data_size()),
                                       static_cast<std::size_t>(tensor.uint64_data_size())});
  if (!outside && !raw && listed != count) {
    fail(what + "has " + std::to_string(listed) + " values where its dimensions say " +
         std::to_string(count));
  }
  const std::string bytes = outside ? external(tensor, count * width) : std::string();
  auto constant = std::make_shared<Constant>();
  constant->type = kind_of(tensor.data_type());
  if (constant->type == Constant::Type::kFloat) {
    constant->floats.resize(count);
  } else {
    constant->integers.resize(count);
  }
  if (outside || raw) {
    from_bytes(outside ? bytes : tensor.raw_data(), tensor.data_type(), *constant);
  } else if (!from_lists(tensor, *constant)) {
    fail(what + "has values of another type than it says");
  }
  release(tensor);
  return constant;
}

}  // namespace hios::onnx
