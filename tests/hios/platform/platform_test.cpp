#include "hios/platform/platform.h"
#include "hios/base/json/json_parse.h"
#include "hios/base/json/json_text.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "hios/platform/platform_json.h"
#include "support/message.h"

namespace hios {
namespace {

using test::expect_message;
using test::message_of;

constexpr DeviceId kA(0), kB(1), kC(2);

std::vector<Device> three() {
  std::vector<Device> devices(3);
  devices[0].name = "a";
  devices[1].name = "b";
  devices[2].name = "c";
  return devices;
}

TEST(Platform, IsHomogeneousByShorthand) {
  const Platform platform = Platform::homogeneous(3, "cpu", 2, 4);
  ASSERT_EQ(platform.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const Device& device = platform.device(DeviceId(i));
    EXPECT_EQ(device.name, "cpu" + std::to_string(i));
    EXPECT_EQ(device.kind, "cpu");
    EXPECT_EQ(device.threads, 2);
    EXPECT_EQ(device.streams, 4);
    EXPECT_EQ(device.memory_bytes, 0u);
    EXPECT_EQ(platform.find(device.name), DeviceId(i));
  }
  EXPECT_EQ(platform.find("cpu3"), std::nullopt);
  EXPECT_EQ(platform.link(kA, kB), std::nullopt);
}

TEST(Platform, FindsTheLinkTheReverseTheDefault) {
  const Link fast{0.01, 100}, slow{0.5, 1}, other{0.2, 10};
  const Platform platform(three(), {{kA, kB, fast}, {kC, kB, slow}, {kB, kC, fast}}, other);
  EXPECT_EQ(platform.link(kA, kB), fast);
  EXPECT_EQ(platform.link(kB, kA), fast) << "a link in one direction serves the other";
  EXPECT_EQ(platform.link(kC, kB), slow);
  EXPECT_EQ(platform.link(kB, kC), fast) << "unless that one is given";
  EXPECT_EQ(platform.link(kA, kC), other);
  EXPECT_EQ(Platform(three(), {{kA, kB, fast}}).link(kA, kC), std::nullopt);
  EXPECT_EQ(Platform(three(), {}, other).link(kA, kC), other);
}

TEST(Link, TakesLatencyAndBytesOverBandwidth) {
  const Link link{0.25, 8};
  EXPECT_DOUBLE_EQ(link.transfer_ms(0), 0.25);
  EXPECT_DOUBLE_EQ(link.transfer_ms(8'000'000), 1.25);
}

TEST(Platform, RefusesImpossibleValues) {
  const Link link{0.1, 1};
  auto twins = three();
  twins[2].name = "a";
  expect_message(message_of([&] { Platform{twins}; }), "two devices are named 'a'");
  auto nameless = three();
  nameless[1].name.clear();
  expect_message(message_of([&] { Platform{nameless}; }), "a device has no name");
  expect_message(message_of([&] {
                   Platform(three(), {{kA, kA, link}});
                 }),
                 "from 'a' to 'a' stays on one device");
  expect_message(message_of([&] {
                   Platform(three(), {{kA, DeviceId(3), link}});
                 }),
                 "names device 3, but there are only 3");
  expect_message(message_of([&] {
                   Platform(three(), {{kA, kB, link}, {kA, kB, link}});
                 }),
                 "from 'a' to 'b' is given twice");
  expect_message(message_of([&] {
                   Platform(three(), {{kA, kB, Link{0.1, 0}}});
                 }),
                 "from 'a' to 'b' has no bandwidth");
  expect_message(message_of([&] {
                   Platform(three(), {{kA, kB, Link{0.1, 5e-324}}});
                 }),
                 "from 'a' to 'b' has no bandwidth");
  expect_message(message_of([&] {
                   Platform(three(), {}, Link{0.1, -1});
                 }),
                 "the default link has no bandwidth");
}

Platform read_platform(const std::string& text) {
  const Json json = parse_json(text, "p.json");
  return platform_from_json(JsonView(json, "p.json"));
}

std::string platform_text(const std::string& devices, const std::string& more = "") {
  return R"({"format": "hios-platform", "version": 1, "devices": [)" + devices + "]" + more + "}";
}

TEST(PlatformIo, ReadsTheFormatAsPublished) {
  const Platform platform = read_platform(platform_text(
      R"({"name": "gpu0", "kind": "gpu", "threads": 0, "streams": 8, "memory_bytes": 1024,
          "host": "n1"}, {"name": "gpu1", "kind": "gpu"}, {"name": "cpu0", "kind": "cpu"})",
      R"(, "links": [{"from": "gpu0", "to": "gpu1", "latency_ms": 0.01, "gb_per_s": 12.0}],
          "default_link": {"latency_ms": 0.1, "gb_per_s": 1})"));
  ASSERT_EQ(platform.size(), 3u);
  EXPECT_EQ(platform.device(kA), (Device{"gpu0", "gpu", 0, 8, 1024, "n1"}));
  EXPECT_EQ(platform.device(kB), (Device{"gpu1", "gpu", 0, 1, 0, ""}));
  EXPECT_EQ(platform.device(kC), (Device{"cpu0", "cpu", 1, 1, 0, ""}));
  EXPECT_EQ(platform.link(kA, kB), (Link{0.01, 12}));
  EXPECT_EQ(platform.link(kA, kC), (Link{0.1, 1}));

  const Platform again = read_platform(to_text(to_json(platform)));
  EXPECT_TRUE(std::equal(platform.devices().begin(), platform.devices().end(),
                         again.devices().begin(), again.devices().end()));
  EXPECT_TRUE(std::equal(platform.links().begin(), platform.links().end(), again.links().begin(),
                         again.links().end()));
  EXPECT_EQ(platform.default_link(), again.default_link());
}

TEST(PlatformIo, ArithmeticGoesWithoutSayingUnlessItIsAnother) {
  const Platform platform = read_platform(platform_text(
      R"({"name": "a", "kind": "gpu", "math": "tf32"}, {"name": "b", "kind": "gpu"})"));
  EXPECT_EQ(platform.device(kA).precision, Precision::kTf32);
  EXPECT_EQ(platform.device(kB).precision, Precision::kFp32);
  const Json json = to_json(platform);
  EXPECT_EQ(json["devices"][0]["math"], "tf32");
  EXPECT_FALSE(json["devices"][1].contains("math"));
  EXPECT_EQ(Platform::homogeneous(2, "gpu", 0, 8, Precision::kTf32).device(kB).precision,
            Precision::kTf32);
  expect_message(
      message_of(
          [&] { read_platform(platform_text(R"({"name": "a", "kind": "gpu", "math": "fp8"})")); }),
      "p.json: $.devices[0].math: no arithmetic is called 'fp8'; there are fp32, tf32, fp16");
}

TEST(Platform, ElementsAreOfOneSizeOnAllDevices) {
  EXPECT_EQ(element_bytes(Precision::kFp32), 4u);
  EXPECT_EQ(element_bytes(Precision::kTf32), 4u);
  EXPECT_EQ(element_bytes(Precision::kFp16), 2u);
  EXPECT_EQ(Platform().element_bytes(), 4u);
  EXPECT_EQ(Platform::homogeneous(3, "gpu", 0, 1, Precision::kFp16).element_bytes(), 2u);
  EXPECT_EQ(read_platform(platform_text(R"({"name": "a", "kind": "gpu", "math": "tf32"},
                              {"name": "b", "kind": "cpu"})"))
                .element_bytes(),
            4u);
  expect_message(message_of([&] {
                   read_platform(platform_text(R"({"name": "a", "kind": "gpu", "math": "fp16"},
                                       {"name": "b", "kind": "cpu"})"));
                 }),
                 "'a' computes in fp16 and 'b' in fp32, whose tensors are not of one size");
}

TEST(PlatformIo, EveryMessageNamesItsPath) {
  const std::string two = R"({"name": "a", "kind": "cpu"}, {"name": "b", "kind": "cpu"})";
  const auto message = [](const std::string& devices, const std::string& more = "") {
    return message_of([&] { read_platform(platform_text(devices, more)); });
  };
  expect_message(message(""), "p.json: $.devices: needs at least one device");
  expect_message(message(two + "," + two),
                 "p.json: $.devices: platform: two devices are named 'a'");
  expect_message(message(R"({"name": "", "kind": "cpu"})"), "$.devices[0].name");
  expect_message(message(R"({"name": "a"})"), "\"kind\" is missing");
  expect_message(message(R"({"name": "a", "kind": "cpu", "cores": 2})"), "unknown key \"cores\"");
  expect_message(message(R"({"name": "a", "kind": "cpu", "streams": 0})"),
                 "$.devices[0].streams: must be a whole number from 1 to 65536, not 0");
  expect_message(message(R"({"name": "a", "kind": "cpu", "memory_bytes": -1})"),
                 "$.devices[0].memory_bytes");
  const auto link = [&](const std::string& text) {
    return message(two, R"(, "links": [{)" + text + "}]");
  };
  expect_message(link(R"("from": "a", "to": "z", "latency_ms": 0, "gb_per_s": 1)"),
                 "$.links[0].to: no device is named 'z'");
  expect_message(link(R"("from": "a", "to": "a", "latency_ms": 0, "gb_per_s": 1)"),
                 "stays on one device");
  expect_message(link(R"("from": "a", "to": "b", "latency_ms": -1, "gb_per_s": 1)"),
                 "$.links[0].latency_ms: must be a number from 0");
  expect_message(link(R"("from": "a", "to": "b", "latency_ms": 0, "gb_per_s": 0)"),
                 "$.links[0].gb_per_s: must be a number from 1e-09");
  expect_message(link(R"("from": "a", "to": "b", "latency_ms": 0, "gb_per_s": 5e-324)"),
                 "$.links[0].gb_per_s: must be a number from 1e-09");
  expect_message(message(two, R"(, "default_link": {"latency_ms": 0})"),
                 "$.default_link: the key \"gb_per_s\" is missing");
}

TEST(PlatformIo, KeepsContentionAndRouting) {
  const std::string two =
      R"("devices": [{"name": "a", "kind": "cpu"}, {"name": "b", "kind": "cpu"}])";
  const auto file = [&](const std::string& more) {
    return read_platform(R"({"format": "hios-platform", "version": 1, )" + two + more + "}");
  };
  const Platform plain = file("");
  EXPECT_EQ(plain.traffic(), Traffic{});
  EXPECT_FALSE(to_json(plain).contains("contention") || to_json(plain).contains("routing"));
  EXPECT_EQ(file(R"(, "contention": "none", "routing": "direct")").traffic(), Traffic{});
  const Platform shared = file(R"(, "contention": "port", "routing": "widest")");
  EXPECT_EQ(shared.traffic(), (Traffic{Contention::kPort, Routing::kWidest}));
  const Json json = to_json(shared);
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["contention"], "port");
  EXPECT_EQ(json["routing"], "widest");
  EXPECT_EQ(platform_from_json(JsonView(json, "p.json")).traffic(), shared.traffic());
  EXPECT_EQ(shared.with_identities({"", "x"}).traffic(), shared.traffic());
  const auto message = [&](const std::string& more) { return message_of([&] { file(more); }); };
  expect_message(message(R"(, "contention": "buses")"),
                 "$.contention: \"buses\" is not known to this program; use one of \"none\", "
                 "\"link\", \"port\"");
  expect_message(message(R"(, "contention": "Port")"),
                 "$.contention: \"Port\" is unknown; use one of \"none\", \"link\", \"port\"");
  expect_message(message(R"(, "routing": "shortest")"),
                 "$.routing: \"shortest\" is unknown; use one of \"direct\", \"widest\"");
  for (const std::string other : {"2", "3"}) {
    const std::string of_other = R"({"format": "hios-platform", "version": )" + other;
    expect_message(message_of([&] { read_platform(of_other + ", " + two + "}"); }),
                   "$.version: version " + other + " is unknown; this program reads version 1");
  }
}

TEST(PlatformIo, KeepsChargesAndFastMemory) {
  const auto file = [](const std::string& more) {
    return read_platform(R"({"format": "hios-platform", "version": 1,
                    "devices": [{"name": "a", "kind": "cpu"}, {"name": "b", "kind": "cpu")" +
                         more + "}]}");
  };
  EXPECT_FALSE(file("").device(kB).io_charge);
  EXPECT_EQ(file("").device(kB).charge_in_flight(), (IoCharge{1, 1}));
  EXPECT_EQ(file(R"(, "io_charge": {"send": 0.5})").device(kB).io_charge, (IoCharge{0.5, 1}));
  EXPECT_FALSE(to_json(file(""))["devices"][1].contains("io_charge"));
  EXPECT_EQ(to_json(file(R"(, "io_charge": {})"))["devices"][1]["io_charge"]["receive"], 1);
  const Platform said = file(R"(, "io_charge": {"send": 0, "receive": 0.25},
                                   "fast_memory_bytes": 4096, "overflow_gb_per_s": 2.5)");
  const Json json = to_json(said);
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(platform_from_json(JsonView(json, "p.json")).device(kB), said.device(kB));
  EXPECT_EQ(said.device(kB).fast_memory, (FastMemory{4096, 2.5}));
  const auto message = [&](const std::string& more) { return message_of([&] { file(more); }); };
  expect_message(message(R"(, "io_charge": {"send": 101})"),
                 "$.devices[1].io_charge.send: must be a number from 0 to 100");
  expect_message(message(R"(, "io_charge": {"both": 1})"),
                 "$.devices[1].io_charge: unknown key \"both\"");
  expect_message(message(R"(, "fast_memory_bytes": 1)"),
                 "$.devices[1].fast_memory_bytes: needs overflow_gb_per_s, too");
  expect_message(message(R"(, "overflow_gb_per_s": 1)"),
                 "$.devices[1].overflow_gb_per_s: needs fast_memory_bytes, too");
  expect_message(message(R"(, "fast_memory_bytes": 1, "overflow_gb_per_s": 0)"),
                 "$.devices[1].overflow_gb_per_s: must be a number from");
}

TEST(Platform, KeepsWhichGpuADeviceMustBe) {
  const Platform named = Platform::homogeneous(2, "gpu", 0, 1).with_identities({"NVIDIA H200", ""});
  EXPECT_FALSE(named.alike());
  EXPECT_TRUE(named.with_identities({"", "NVIDIA H200"}).alike());
  const Json json = to_json(named);
  const Platform again = platform_from_json(JsonView(json, "p.json"));
  EXPECT_EQ(again.device(DeviceId(0)).identity, "NVIDIA H200");
  EXPECT_EQ(again.device(DeviceId(1)).identity, "");
  EXPECT_EQ(to_json(again), json);
  Json empty = json;
  empty["devices"][0]["gpu"] = "";
  expect_message(message_of([&] { platform_from_json(JsonView(empty, "p.json")); }),
                 "$.devices[0].gpu");
}

}  // namespace
}  // namespace hios
