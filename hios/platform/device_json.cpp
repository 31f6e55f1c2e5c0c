#include "hios/platform/device_json.h"

#include <nlohmann/json.hpp>

#include "hios/platform/cpu_kinds.h"

namespace hios {
namespace {

constexpr int kMaxCount = 65536;

std::string read_name(const JsonView& view, const char* remedy) {
  std::string name = view.string();
  if (name.empty()) view.fail(std::string("must not be empty; ") + remedy);
  return name;
}

int read_count(ObjectReader& reader, const char* key, int least, int otherwise,
               IfAbsent if_absent) {
  const auto view =
      if_absent == IfAbsent::kRefused ? std::optional(reader.required(key)) : reader.optional(key);
  return view ? static_cast<int>(view->integer(least, kMaxCount)) : otherwise;
}

IoCharge read_io_charge(const JsonView& view) {
  IoCharge charge;
  ObjectReader reader(view);
  if (const auto send = reader.optional("send")) charge.send = send->number(0, kMostIoCharge);
  if (const auto receive = reader.optional("receive"))
    charge.receive = receive->number(0, kMostIoCharge);
  reader.finish();
  return charge;
}

FastMemory read_fast_memory(ObjectReader& reader) {
  FastMemory memory;
  const auto bytes = reader.optional("fast_memory_bytes");
  const auto speed = reader.optional("overflow_gb_per_s");
  if (bytes) memory.bytes = static_cast<Bytes>(bytes->integer(0, kMaxBytes));
  if (speed) memory.gb_per_s = speed->number(kMinGbPerS, kMaxGbPerS);
  if (memory.bytes > 0 && !speed) bytes->fail("needs overflow_gb_per_s, too");
  if (memory.bytes == 0 && speed) speed->fail("needs fast_memory_bytes, too");
  return memory;
}

}  // namespace

Device read_device(ObjectReader& reader, IfAbsent if_absent) {
  Device device;
  device.name = read_name(reader.required("name"), "give it a name");
  device.kind = read_name(reader.required("kind"), "give it a name");
  device.threads =
      read_count(reader, "threads", 0, computes_on_cores(device.kind) ? 1 : 0, if_absent);
  device.streams = read_count(reader, "streams", 1, device.streams, if_absent);
  if (const auto memory = reader.optional("memory_bytes")) {
    device.memory_bytes = static_cast<Bytes>(memory->integer(0, kMaxBytes));
  }
  if (const auto host = reader.optional("host")) device.host = host->string();
  if (const auto precision = reader.optional("math")) device.precision = read_precision(*precision);
  if (const auto gpu = reader.optional("gpu")) {
    device.identity = read_name(*gpu, "leave it out where any GPU will do");
  }
  if (const auto charge = reader.optional("io_charge")) {
    device.io_charge = read_io_charge(*charge);
  }
  device.fast_memory = read_fast_memory(reader);
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
  if (device.io_charge) {
    json["io_charge"] = {{"send", device.io_charge->send}, {"receive", device.io_charge->receive}};
  }
  if (device.fast_memory.bytes > 0) {
    json["fast_memory_bytes"] = device.fast_memory.bytes;
    json["overflow_gb_per_s"] = device.fast_memory.gb_per_s;
  }
  return json;
}

}  // namespace hios
