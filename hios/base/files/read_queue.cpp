// The two rings of io_uring, by its system calls: no library is needed. An entry is published by a
// store of a ring's end that the other side loads. The reads themselves need no flag newer than
// Linux 5.1. Tests: tests/hios/base/files/read_queue_test.cpp.
#include "hios/base/files/read_queue.h"

#if __has_include(<linux/io_uring.h>)
#include <linux/io_uring.h>
#endif
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "hios/base/error.h"
#include "hios/base/files/descriptor.h"
#include "hios/base/files/output_file.h"

namespace hios {

#if defined(IORING_OFF_SQES) && defined(SYS_io_uring_setup)
namespace {

/// Memory that the system shares with this process, unmapped at the end.
class SharedRing {
 public:
  SharedRing(int descriptor, std::size_t size, std::uint64_t what)
      : begin_(::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, descriptor,
                      static_cast<off_t>(what))),
        size_(size) {}
  ~SharedRing() {
    if (is_open()) ::munmap(begin_, size_);
  }
  SharedRing(const SharedRing&) = delete;
  SharedRing& operator=(const SharedRing&) = delete;

  bool is_open() const { return begin_ != MAP_FAILED; }
  template <typename T>
  T* at(std::size_t offset) const {
    return reinterpret_cast<T*>(static_cast<std::byte*>(begin_) + offset);
  }

 private:
  void* begin_;
  std::size_t size_;
};

}  // namespace

struct ReadQueue::Rings {
  Rings(Descriptor open, const io_uring_params& parameters)
      : descriptor(std::move(open)),
        sizes(parameters),
        requests(descriptor.get(), sizes.sq_off.array + sizes.sq_entries * sizeof(unsigned),
                 IORING_OFF_SQ_RING),
        entries(descriptor.get(), sizes.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES),
        answers(descriptor.get(), sizes.cq_off.cqes + sizes.cq_entries * sizeof(io_uring_cqe),
                IORING_OFF_CQ_RING) {}

  bool is_open() const { return requests.is_open() && entries.is_open() && answers.is_open(); }

  /// Publishes a request.
  void push(const io_uring_sqe& request) {
    unsigned* const end = requests.at<unsigned>(sizes.sq_off.tail);
    const unsigned index = *end & *requests.at<unsigned>(sizes.sq_off.ring_mask);
    entries.at<io_uring_sqe>(0)[index] = request;
    requests.at<unsigned>(sizes.sq_off.array)[index] = index;
    __atomic_store_n(end, *end + 1, __ATOMIC_RELEASE);
  }
  /// Takes an answer out; false where there is none.
  bool pop(io_uring_cqe& answer) {
    unsigned* const begin = answers.at<unsigned>(sizes.cq_off.head);
    const unsigned* const end = answers.at<unsigned>(sizes.cq_off.tail);
    if (*begin == __atomic_load_n(end, __ATOMIC_ACQUIRE)) return false;
    const unsigned index = *begin & *answers.at<unsigned>(sizes.cq_off.ring_mask);
    answer = answers.at<io_uring_cqe>(sizes.cq_off.cqes)[index];
    __atomic_store_n(begin, *begin + 1, __ATOMIC_RELEASE);
    return true;
  }

  Descriptor descriptor;
  io_uring_params sizes;
  SharedRing requests, entries, answers;
};

std::unique_ptr<ReadQueue> ReadQueue::open(unsigned most) {
  io_uring_params parameters{};
  Descriptor descriptor(static_cast<int>(::syscall(SYS_io_uring_setup, most, &parameters)));
  if (!descriptor.is_open()) return nullptr;
  auto rings = std::make_unique<Rings>(std::move(descriptor), parameters);
  if (!rings->is_open()) return nullptr;
  std::unique_ptr<ReadQueue> queue(new ReadQueue(std::move(rings), most));
  return queue->works() ? std::move(queue) : nullptr;
}

/// Returns true if the system answers a request that asks for nothing: it may open queues and
/// refuse to serve them.
bool ReadQueue::works() {
  io_uring_sqe nothing{};
  nothing.opcode = IORING_OP_NOP;
  rings_->push(nothing);
  ++added_, ++under_way_;
  try {
    return wait().result == 0;
  } catch (const RunError&) {
    return false;
  }
}

void ReadQueue::add(int descriptor, std::span<const iovec> places, Bytes offset,
                    std::uint64_t tag) {
  io_uring_sqe request{};
  request.opcode = IORING_OP_READV;
  request.fd = descriptor;
  request.off = offset;
  request.addr = reinterpret_cast<std::uintptr_t>(places.data());
  request.len = static_cast<unsigned>(places.size());
  request.user_data = tag;
  rings_->push(request);
  ++added_, ++under_way_;
}

void ReadQueue::enter(unsigned awaited) {
  for (;;) {
    const long taken = ::syscall(SYS_io_uring_enter, rings_->descriptor.get(), added_, awaited,
                                 awaited > 0 ? IORING_ENTER_GETEVENTS : 0U, nullptr, 0);
    if (taken >= 0) {
      added_ -= static_cast<unsigned>(taken);
      if (added_ == 0 || awaited > 0) return;
    } else if (errno != EINTR) {
      throw RunError("the system's queue of reads fails: " + system_error());
    }
  }
}

void ReadQueue::start() {
  if (added_ > 0) enter(0);
}

ReadQueue::Ended ReadQueue::wait() {
  start();
  for (io_uring_cqe answer;; enter(1)) {
    if (!rings_->pop(answer)) continue;
    --under_way_;
    return {answer.user_data, answer.res};
  }
}

ReadQueue::~ReadQueue() {
  under_way_ -= std::exchange(added_, 0);  // these never start
  try {
    while (under_way_ > 0) wait();
  } catch (const RunError&) {  // closing the queue is all that is left
  }
}

#else  // headers of a system without such queues

struct ReadQueue::Rings {};

std::unique_ptr<ReadQueue> ReadQueue::open(unsigned) { return nullptr; }
void ReadQueue::add(int, std::span<const iovec>, Bytes, std::uint64_t) {}
void ReadQueue::start() {}
ReadQueue::Ended ReadQueue::wait() { return {}; }
ReadQueue::~ReadQueue() = default;

#endif

ReadQueue::ReadQueue(std::unique_ptr<Rings> rings, unsigned most)
    : rings_(std::move(rings)), most_(most) {}

}  // namespace hios
