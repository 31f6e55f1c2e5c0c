#pragma once

#include <dlfcn.h>

#include <optional>
#include <string>

namespace hios {

/// NVML's handle of a GPU.
using NvmlDevice = void*;

/// NVIDIA's management library. It is opened at run time, and its functions are looked up by name:
/// a machine that builds or runs this need have neither the library, nor its header, nor a driver.
/// One thread at a time.
class NvmlLibrary {
 public:
  explicit NvmlLibrary(const std::string& name = "libnvidia-ml.so.1")
      : library_(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) return;
    const auto init = find<int (*)()>("nvmlInit_v2");
    started_ = init != nullptr && init() == 0;
  }
  ~NvmlLibrary() {
    if (started_) {
      if (const auto stop = find<int (*)()>("nvmlShutdown")) stop();
    }
    if (library_ != nullptr) dlclose(library_);
  }
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  /// Returns true if the library is there and found a driver. Only then may its functions be
  /// called.
  bool started() const { return started_; }

  /// Returns a function, null where the library lacks it. REQUIRES: the library is there.
  template <class Function>
  Function find(const char* name) const {
    return reinterpret_cast<Function>(dlsym(library_, name));
  }
  /// Returns what `name(arguments…, &value)` gives; nothing where the library lacks it or it fails.
  template <class Value, class... Arguments>
  std::optional<Value> ask(const char* name, Arguments... arguments) const {
    Value value{};
    const auto function = find<int (*)(Arguments..., Value*)>(name);
    if (function == nullptr || function(arguments..., &value) != 0) return {};
    return value;
  }

 private:
  void* library_;
  bool started_ = false;
};

}  // namespace hios
