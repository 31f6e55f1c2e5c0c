#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace hios::cuda_emulation {

/// The order in which queued work runs, of all orders that CUDA allows.
enum class Order {
  kEarly,  ///< at once, where nothing is to be waited for
  kLate,   ///< only when a host waits for it, or after a while
  kRandom  ///< whichever queue a random number names
};

/// The order of a block's threads, and of the blocks, between two barriers.
enum class Threads { kRising, kFalling, kRandom };

/// An emulated machine. Read once from HIOS_EMULATED_CUDA, words with commas between:
/// "order=late,threads=falling,seed=7,devices=2,memory=1000000,ipc=off,libraries=off,fault=NAME,
/// fault_in=NAME,fault_at=3,wrong=NAME,records=off,nccl=22803,nccl_records=off,nccl_lost=3,
/// nccl_ends=off,pinned=off,maps=off,driver=12040,rounds=NAME,cuda_aware=on".
/// A word that is none of these ends the process.
struct Settings {
  Order order = Order::kRandom;
  Threads threads = Threads::kRandom;
  std::uint64_t seed = 1;
  int devices = 2;
  std::size_t memory_bytes = std::size_t{1} << 30;
  bool ipc = true;           ///< a process may map another's memory
  bool libraries = true;     ///< cuDNN and cuBLASLt know algorithms
  std::string fault;         ///< work of this name faults, as "cudnn 0" or "lt 1"
  std::string fault_in;      ///< so does work that is queued inside a range of this name (NVTX)
  int fault_at = 1;          ///< the first of these that faults, from 1
  std::string wrong;         ///< a library's algorithm of this name gives wrong values
  std::string rounds;        ///< a library's algorithm of this name rounds floats to TF32, unasked
  bool records = true;       ///< work can be recorded
  int nccl = 22803;          ///< the version of NCCL
  bool nccl_records = true;  ///< messages by NCCL can be recorded
  bool nccl_ends = true;     ///< a member of NCCL's that is aborted ends
  bool cuda_aware = false;   ///< MPI says that it takes the GPUs' memory, which is the host's
  bool pinned = true;        ///< the system pins host memory
  bool maps = true;          ///< the GPU maps host memory
  bool busy = false;         ///< another process has the GPUs for itself
  int driver = 13000;        ///< the CUDA that the driver knows; 0: there is no driver
  int capability = 9;        ///< the first digit of the GPUs' compute capability
  int nccl_lost = 0;         ///< the first piece of a tensor that NCCL loses, from 1; 0: none
};

Settings& settings();

/// A generator of the device's own: the next number of its sequence, below `count`.
std::size_t next_random(std::size_t count);

}  // namespace hios::cuda_emulation
