#include "support/emulated_cuda/runtime/settings.h"

#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "hios/base/numbers/random.h"

namespace hios::cuda_emulation {
namespace {

[[noreturn]] void refuse_setting(const std::string& word) {
  std::fprintf(stderr, "HIOS_EMULATED_CUDA: %s is no setting (runtime/settings.h)\n", word.c_str());
  std::abort();
}

void set(Settings& result, const std::string& word) {
  const std::size_t equals = word.find('=');
  const std::string key = word.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
  if (key == "order" && (value == "early" || value == "late" || value == "random")) {
    result.order = value == "early"  ? Order::kEarly
                   : value == "late" ? Order::kLate
                                     : Order::kRandom;
  } else if (key == "threads" && (value == "rising" || value == "falling" || value == "random")) {
    result.threads = value == "rising"    ? Threads::kRising
                     : value == "falling" ? Threads::kFalling
                                          : Threads::kRandom;
  } else if (key == "seed") {
    result.seed = std::strtoull(value.c_str(), nullptr, 10);
  } else if (key == "devices") {
    result.devices = std::atoi(value.c_str());
  } else if (key == "memory") {
    result.memory_bytes = std::strtoull(value.c_str(), nullptr, 10);
  } else if (key == "ipc" && (value == "on" || value == "off")) {
    result.ipc = value == "on";
  } else if (key == "libraries" && (value == "on" || value == "off")) {
    result.libraries = value == "on";
  } else if (key == "fault") {
    result.fault = value;
  } else if (key == "wrong") {
    result.wrong = value;
  } else if (key == "nccl_records" && (value == "on" || value == "off")) {
    result.nccl_records = value == "on";
  } else if (key == "nccl_lost") {
    result.nccl_lost = std::atoi(value.c_str());
  } else if (key == "nccl") {
    result.nccl = std::atoi(value.c_str());
  } else {
    refuse_setting(word);
  }
}

Settings read_settings() {
  Settings result;
  const char* const words = std::getenv("HIOS_EMULATED_CUDA");
  std::istringstream text(words != nullptr ? words : "");
  for (std::string word; std::getline(text, word, ',');) set(result, word);
  return result;
}

}  // namespace

Settings& settings() {
  static Settings known = read_settings();
  return known;
}

std::size_t next_random(std::size_t count) {
  static Random random(settings().seed);
  return count < 2 ? 0 : static_cast<std::size_t>(random.below(count));
}

}  // namespace hios::cuda_emulation
