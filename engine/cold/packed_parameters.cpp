#include "engine/cold/packed_parameters.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "hios/base/digest.h"
#include "hios/base/error.h"
#include "hios/base/files/output_file.h"
#include "hios/base/need.h"
#include "hios/model/weights/safetensors.h"

namespace hios {
namespace {

constexpr const char* kFormat = "hios-packed";
constexpr const char* kVersion = "1";
// Facts of a backend on which its layouts depend.
constexpr const char* kFacts[] = {"library", "isa", "kernels"};
constexpr const char* kDigest = "digest of ";
// Parts of at least so many bytes begin on a page, so that whole pages are read straight to where
// operators read them. A safetensors file has no gaps: tensors without a digest fill them.
constexpr Bytes kOnPages = Bytes{64} * 1024;

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string digest_of(std::span<const std::byte> bytes) {
  return Digest().add(as_text(bytes)).hex();
}

/// Returns a fact of a backend as text; "none" where it has none.
std::string fact(const Json& backend, const char* key) {
  const auto found = backend.find(key);
  return found != backend.end() && found->is_string() ? found->get<std::string>() : "none";
}

struct FreeBytes {
  void operator()(void* bytes) const { std::free(bytes); }
};

/// Returns the first bytes of a file, by reads that are whole pages.
std::string beginning(const DirectFile& file, Bytes size) {
  constexpr Bytes kPage = DirectFile::kAlignment;
  if (size == 0) return {};
  const Bytes room = (size + kPage - 1) / kPage * kPage;
  const std::unique_ptr<std::byte, FreeBytes> bytes(
      static_cast<std::byte*>(std::aligned_alloc(kPage, room)));
  if (!bytes) throw RunError(file.name() + ": no memory for its header");
  file.read(bytes.get(), 0, size, room);
  return std::string(reinterpret_cast<const char*>(bytes.get()), size);
}

DirectFile open_packed(const std::filesystem::path& file) {
  try {
    return DirectFile(file);
  } catch (const InputError& error) {
    throw InputError(error.what(), need::PackedWeights{});
  }
}

}  // namespace

std::filesystem::path packed_file_of(const std::filesystem::path& weights) {
  return weights.string() + ".packed";
}

void write_packed(const std::filesystem::path& file, const Json& backend,
                  std::span<const ParameterPart> parts, Existing existing) {
  safetensors::Header header{.metadata = {{"format", kFormat}, {"version", kVersion}},
                             .tensors = {}};
  for (const char* const key : kFacts) header.metadata[key] = fact(backend, key);
  std::vector<std::span<const std::byte>> written;
  const auto append = [&](const std::string& name, std::span<const std::byte> bytes) {
    const std::uint64_t begin = header.tensors.empty() ? 0 : header.tensors.back().end;
    header.tensors.push_back({name, "U8", {std::ssize(bytes)}, begin, begin + bytes.size()});
    written.push_back(bytes);
  };
  const std::vector<std::byte> page(DirectFile::kAlignment);
  std::set<std::pair<std::string, std::size_t>> known;
  for (const ParameterPart& part : parts) {
    const std::string digest = digest_of(part.bytes);
    if (part.bytes.empty() || !known.insert({digest, part.bytes.size()}).second) continue;
    const Bytes over = header.tensors.empty() ? 0 : header.tensors.back().end % page.size();
    if (part.bytes.size() >= kOnPages && over > 0) {
      const Bytes end = header.tensors.back().end;  // parts have a dot in their names
      append("gap " + std::to_string(end), std::span(page).first(page.size() - over));
    }
    header.metadata[kDigest + part.name] = digest;
    append(part.name, part.bytes);
  }
  const std::filesystem::path target = target_of(file, existing);
  TemporaryFile temporary(folder_of(target));
  const auto require = [&](bool done) {
    if (!done) throw RunError(shown(file) + ": cannot be written: " + system_error());
  };
  require(temporary.write(safetensors::header_text(header, DirectFile::kAlignment)));
  for (const auto bytes : written) require(temporary.write(as_text(bytes)));
  require(temporary.publish(target, existing));
  sync_folder(folder_of(target));
}

PackedParameters::PackedParameters(const std::filesystem::path& file, const Json& backend,
                                   std::size_t most_parts, const ReadLimits& limits)
    : file_(open_packed(file)) {
  open(backend, most_parts, limits);
}

void PackedParameters::open(const Json& backend, std::size_t most_parts, const ReadLimits& limits) {
  try {
    read(backend, most_parts, limits);
  } catch (const InputError& error) {
    throw InputError(error.what(), need::PackedWeights{});
  }
}

void PackedParameters::read(const Json& backend, std::size_t most_parts, const ReadLimits& limits) {
  const Bytes size = file_.size_bytes();
  const std::string& name = file_.name();
  const safetensors::Expected expected{.tensors = 2 * most_parts,  // and what fills the gaps
                                       .wanted = [](const std::string&) { return true; }};
  const Bytes header_bytes = safetensors::header_size(
      beginning(file_, std::min<Bytes>(size, safetensors::kLengthBytes)), size, name, expected);
  const safetensors::Header header =
      safetensors::read_header(beginning(file_, header_bytes), size, name, expected, limits);
  const auto said = [&](const std::string& key) {
    const auto found = header.metadata.find(key);
    return found == header.metadata.end() ? std::string("none") : found->second;
  };
  if (said("format") != kFormat) {
    throw InputError(name + ": has no packed weights: its format is " + quote(said("format")));
  }
  if (said("version") != kVersion) {
    throw InputError(name + ": has packed weights of version " + quote(said("version")) +
                     ", and this program reads version " + kVersion);
  }
  for (const char* const key : kFacts) {
    if (said(key) == fact(backend, key)) continue;
    throw InputError(name + ": is packed for another " + std::string(key) + ": " +
                     quote(said(key)) + ", and this run has " + quote(fact(backend, key)));
  }
  for (const safetensors::Tensor& tensor : header.tensors) {
    if (!header.metadata.contains(kDigest + tensor.name)) continue;
    offsets_[{said(kDigest + tensor.name), tensor.size_bytes()}] = header.size_bytes + tensor.begin;
  }
}

Stretch PackedParameters::find(std::span<const std::byte> bytes, const std::string& what) const {
  const auto found = offsets_.find({digest_of(bytes), bytes.size()});
  if (found == offsets_.end()) {
    throw InputError(file_.name() + ": has no parameters of " + what +
                         " as this run computes with them: it was packed from other weights, for "
                         "another schedule, other threads or by other algorithms",
                     need::PackedWeights{});
  }
  return {found->second, bytes.size()};
}

}  // namespace hios
