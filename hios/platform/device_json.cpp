#include "hios/platform/device_json.h"

#include "hios/platform/cpu_kinds.h"

namespace hios {
namespace {

constexpr int kMaxCount = 65536;

std::string read_name(const JsonView& view, const char* remedy) {
  std::string name = view.string();
  if (name.empty()) view.fail(std::string("must not be empty; ") + remedy);
  return name;
}

int read_count(ObjectReader& reader, const char* key, int least, int otherwise, Unsaid unsaid) {
  const auto view =
      unsaid == Unsaid::kRefused ? std::optional(reader.required(key)) : reader.optional(key);
  return view ? static_cast<int>(view->integer(least, kMaxCount)) : otherwise;
}

}  // namespace

Device read_device(ObjectReader& reader, Unsaid unsaid) {
  Device device;
  device.name = read_name(reader.required("name"), "give it a name");
  device.kind = read_name(reader.required("kind"), "give it a name");
  device.threads = read_count(reader, "threads", 0, computes_on_cores(device.kind) ? 1 : 0, unsaid);
  device.streams = read_count(reader, "streams", 1, device.streams, unsaid);
  if (const auto memory = reader.optional("memory_bytes")) {
    device.memory_bytes = static_cast<Bytes>(memory->integer(0, kMaxBytes));
  }
  if (const auto host = reader.optional("host")) device.host = host->string();
  if (const auto precision = reader.optional("math")) device.precision = read_precision(*precision);
  if (const auto gpu = reader.optional("gpu")) {
    device.identity = read_name(*gpu, "leave it out where any GPU will do");
  }
  return device;
}

Json device_json(const Device& device) {
  Json json = {{"name", device.name},
               {"kind", device.kind},
               {"threads", device.threads},
               {"streams", device.streams}};
  if (device.memory_bytes > 0) json["memory_bytes"] = device.memory_bytes;
  if (!device.host.empty()) json["host"] = device.host;
  if (device.precision != Precision::kFp32) json["math"] = device.precision;
  if (!device.identity.empty()) json["gpu"] = device.identity;
  return json;
}

}  // namespace hios
