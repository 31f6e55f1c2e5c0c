#include "support/emulated_cuda/runtime/settings.h"

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "hios/base/numbers/random.h"

namespace hios::cuda_emulation {
namespace {

[[noreturn]] void refuse_setting(const std::string& word) {
  std::fprintf(stderr, "HIOS_EMULATED_CUDA: %s is no setting (runtime/settings.h)\n", word.c_str());
  std::abort();
}

/// Sets the one of these that has the word's name; returns false if none has.
bool set_switch(Settings& result, const std::string& key, const std::string& value) {
  constexpr std::pair<const char*, bool Settings::*> kSwitches[] = {
      {"ipc", &Settings::ipc},
      {"libraries", &Settings::libraries},
      {"busy", &Settings::busy},
      {"nccl_records", &Settings::nccl_records},
      {"maps", &Settings::maps},
      {"pinned", &Settings::pinned},
      {"records", &Settings::records},
      {"nccl_ends", &Settings::nccl_ends},
      {"cuda_aware", &Settings::cuda_aware},
  };
  for (const auto& [name, member] : kSwitches) {
    if (key == name && (value == "on" || value == "off")) {
      result.*member = value == "on";
      return true;
    }
  }
  return false;
}

bool set_number(Settings& result, const std::string& key, const std::string& value) {
  constexpr std::pair<const char*, int Settings::*> kNumbers[] = {
      {"devices", &Settings::devices},   {"driver", &Settings::driver},
      {"nccl", &Settings::nccl},         {"nccl_lost", &Settings::nccl_lost},
      {"fault_at", &Settings::fault_at}, {"capability", &Settings::capability},
  };
  for (const auto& [name, member] : kNumbers) {
    if (key == name) {
      result.*member = std::atoi(value.c_str());
      return true;
    }
  }
  return false;
}

void set(Settings& result, const std::string& word) {
  const std::size_t equals = word.find('=');
  const std::string key = word.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
  if (set_switch(result, key, value) || set_number(result, key, value)) return;
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
  } else if (key == "memory") {
    result.memory_bytes = std::strtoull(value.c_str(), nullptr, 10);
  } else if (key == "fault") {
    result.fault = value;
  } else if (key == "fault_in") {
    result.fault_in = value;
  } else if (key == "wrong") {
    result.wrong = value;
  } else if (key == "rounds") {
    result.rounds = value;
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
