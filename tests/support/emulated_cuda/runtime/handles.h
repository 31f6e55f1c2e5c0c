#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "support/emulated_cuda/runtime/device.h"

/// The targets of the runtime's opaque handles.
namespace hios::cuda_emulation {

/// A recording: work, each with the earlier work after which it runs.
struct Capture {
  std::vector<Work> works;
  std::thread::id thread;
  bool invalid = false, ended = false;
};

}  // namespace hios::cuda_emulation

struct EmulatedStream {
  std::shared_ptr<hios::cuda_emulation::Queue> queue;
  std::shared_ptr<hios::cuda_emulation::Capture> capture;  ///< null: it is not recorded
  bool begins_capture = false;
  std::vector<std::size_t> last;  ///< the works after which the next one runs, while recorded
};

struct EmulatedEvent {
  std::shared_ptr<hios::cuda_emulation::EventState> state;
  unsigned flags = 0;
  void* shared_page = nullptr;  ///< a block with the state, if other processes may map it
  std::shared_ptr<hios::cuda_emulation::Capture> capture;  ///< of its last record; null: none
  std::vector<std::size_t> last;                           ///< the works before that record
};

struct EmulatedGraph {
  std::vector<hios::cuda_emulation::Work> works;
};

struct EmulatedGraphExec {
  std::vector<hios::cuda_emulation::Work> works;
};
