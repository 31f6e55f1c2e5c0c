// A model's graph is walked field by field, and so is each large weight of it, whose raw values are
// skipped. All else is parsed by protobuf in pieces, which merge into the whole message: parsing a
// message in pieces, cut between fields, is parsing it at once (Protocol Buffers, Encoding, "Last
// One Wins").
#include "hios/onnx/parse.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace hios::onnx {
namespace {

using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;

constexpr int kMaxNesting = 100;
/// Smaller weights are parsed with the rest, in pieces of about this size.
constexpr std::uint32_t kLarge = std::uint32_t{1} << 20;

/// How a field is written: the last three bits of its tag.
enum class Wire : std::uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

constexpr std::uint32_t tag_of_bytes(int field) {
  return static_cast<std::uint32_t>(field) << 3 | static_cast<std::uint32_t>(Wire::kBytes);
}

/// Fields of a message, as they are in the file, until protobuf parses them.
class Piece {
 public:
  explicit Piece(google::protobuf::MessageLite& message, int depth)
      : message_(message), depth_(depth) {}

  std::size_t size() const { return bytes_.size(); }

  /// Adds the field with this tag, whose value comes next in the file. Returns false if there is
  /// none.
  bool add(std::uint32_t tag, CodedInputStream& from) {
    std::uint32_t size = 0;
    if (Wire{tag & 7} == Wire::kBytes) return from.ReadVarint32(&size) && add(tag, size, from);
    google::protobuf::io::StringOutputStream stream(&bytes_);
    CodedOutputStream to(&stream);
    std::uint64_t number = 0;
    to.WriteTag(tag);
    switch (Wire{tag & 7}) {
      case Wire::kVarint:
        if (!from.ReadVarint64(&number)) return false;
        to.WriteVarint64(number);
        return true;
      case Wire::kFixed64:
        if (!from.ReadLittleEndian64(&number)) return false;
        to.WriteLittleEndian64(number);
        return true;
      case Wire::kFixed32:
        if (!from.ReadLittleEndian32(&size)) return false;
        to.WriteLittleEndian32(size);
        return true;
      default:
        return false;  // groups, of which ONNX has none
    }
  }

  /// Adds the field with this tag, whose `size` bytes come next. Returns false if they do not.
  bool add(std::uint32_t tag, std::uint32_t size, CodedInputStream& from) {
    std::string value;
    if (!from.ReadString(&value, static_cast<int>(size))) return false;
    google::protobuf::io::StringOutputStream stream(&bytes_);
    CodedOutputStream to(&stream);
    to.WriteTag(tag);
    to.WriteVarint32(size);
    to.WriteString(value);
    return true;
  }

  /// Parses the fields so far into the message. Returns false if they are none of its type.
  bool merge() {
    if (bytes_.empty()) return true;
    CodedInputStream coded(reinterpret_cast<const std::uint8_t*>(bytes_.data()),
                           static_cast<int>(bytes_.size()));
    coded.SetRecursionLimit(kMaxNesting - depth_);
    const bool whole =
        message_.MergePartialFromCodedStream(&coded) && coded.ConsumedEntireMessage();
    std::string().swap(bytes_);
    return whole;
  }

 private:
  google::protobuf::MessageLite& message_;
  int depth_;  ///< messages around this one
  std::string bytes_;
};

class Parser {
 public:
  Parser(int file, std::size_t size, proto::ModelProto& model)
      : stream_(file), coded_(&stream_), model_(model) {
    coded_.SetTotalBytesLimit(std::numeric_limits<int>::max());
    coded_.PushLimit(static_cast<int>(size));  // so that no size in it makes room for more
  }

  bool parse() {
    Piece rest(model_, 0);
    return each_field([&](std::uint32_t tag) {
             if (tag != tag_of_bytes(proto::ModelProto::kGraphFieldNumber))
               return rest.add(tag, coded_);
             std::uint32_t size = 0;
             return coded_.ReadVarint32(&size) && parse_graph(size);
           }) &&
           rest.merge();
  }

  StoredTensors&& stored() && { return std::move(stored_); }

 private:
  /// Reads tags up to the limit, and each field by `field(tag)`.
  template <class Field>
  bool each_field(Field&& field) {
    while (const std::uint32_t tag = coded_.ReadTag()) {
      if (!field(tag)) return false;
    }
    return coded_.ConsumedEntireMessage() && coded_.BytesUntilLimit() == 0;
  }

  /// The same for a message of this size.
  template <class Field>
  bool each_field_of(std::uint32_t size, Field&& field) {
    if (size > static_cast<std::uint32_t>(coded_.BytesUntilLimit())) return false;
    const auto limit = coded_.PushLimit(static_cast<int>(size));
    const bool whole = each_field(field);
    coded_.PopLimit(limit);
    return whole;
  }

  bool parse_graph(std::uint32_t graph_size) {
    proto::GraphProto& graph = *model_.mutable_graph();
    Piece rest(graph, 1);
    return each_field_of(
               graph_size,
               [&](std::uint32_t tag) {
                 if (tag != tag_of_bytes(proto::GraphProto::kInitializerFieldNumber))
                   return rest.add(tag, coded_) && (rest.size() < kLarge || rest.merge());
                 std::uint32_t size = 0;
                 if (!coded_.ReadVarint32(&size)) return false;
                 if (size < kLarge)
                   return rest.add(tag, size, coded_) && (rest.size() < kLarge || rest.merge());
                 return rest.merge() && parse_weight(*graph.add_initializer(), size);  // in order
               }) &&
           rest.merge();
  }

  bool parse_weight(proto::TensorProto& tensor, std::uint32_t tensor_size) {
    Piece rest(tensor, 2);
    return each_field_of(
               tensor_size,
               [&](std::uint32_t tag) {
                 if (tag != tag_of_bytes(proto::TensorProto::kRawDataFieldNumber))
                   return rest.add(tag, coded_);
                 std::uint32_t size = 0;
                 if (!coded_.ReadVarint32(&size)) return false;
                 stored_.erase(&tensor);  // the last one counts
                 if (size < kLarge) return rest.add(tag, size, coded_);
                 stored_[&tensor] = {static_cast<std::size_t>(coded_.CurrentPosition()), size};
                 return coded_.Skip(static_cast<int>(size));
               }) &&
           rest.merge();
  }

  google::protobuf::io::FileInputStream stream_;
  CodedInputStream coded_;
  proto::ModelProto& model_;
  StoredTensors stored_;
};

}  // namespace

std::optional<StoredTensors> parse_model(int file, std::size_t size, proto::ModelProto& model) {
  if (size > static_cast<std::size_t>(std::numeric_limits<int>::max())) return {};
  Parser parser(file, size, model);
  if (!parser.parse() || !model.has_graph()) return {};
  return std::move(parser).stored();
}

}  // namespace hios::onnx
