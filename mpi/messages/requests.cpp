#include "mpi/messages/requests.h"

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "hios/base/error.h"

// A plan's messages never change, so each has a persistent request that is made once and started in
// every iteration. Matching, datatype and peer are settled at open, and no call of the timed loop
// allocates. Receives come first in the arrays, so that one MPI_Startall posts them all. A message
// whose receive is posted goes straight into its buffer, and no send waits for the receiver's
// program order.
//
// Open MPI moves large messages only inside its own calls. poll() makes one MPI_Testsome over all
// requests. That advances all transfers and harvests those that have ended, in time linear in the
// number of requests (a few hundred at most), and in no time when none is under way.
//
// MPICH (5.0.2) does not say in MPI_Testsome's statuses why a persistent request failed; its
// MPI_Testany does, which harvests one at a time.
namespace hios::mpi {
namespace {

#ifdef MPICH_VERSION
constexpr bool kHarvestOneByOne = true;
#else
constexpr bool kHarvestOneByOne = false;
#endif

constexpr Bytes kMaxCount = std::numeric_limits<int>::max();
constexpr Bytes kBlockBytes = Bytes{1} << 30;

/// Returns MPI_TAG_UB, an attribute of the world's communicator alone.
int largest_tag() {
  constexpr int kPromised = 32767;
  const int* largest = nullptr;
  int known = 0;
  HIOS_MPI(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&largest), &known));
  return known != 0 ? *largest : kPromised;
}

/// Persistent requests, contiguous as MPI wants them.
class RequestArray {
 public:
  explicit RequestArray(std::size_t capacity) { requests_.reserve(capacity); }
  RequestArray(const RequestArray&) = delete;
  RequestArray& operator=(const RequestArray&) = delete;
  /// Frees the requests, which is local. A request is still under way only after an error; a
  /// receive is cancelled first, so that no late message writes into a freed buffer.
  ~RequestArray() {
    for (MPI_Request& request : requests_) {
      if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    }
  }

  MPI_Request* add() {
    requests_.push_back(MPI_REQUEST_NULL);
    return &requests_.back();
  }
  MPI_Request* data() { return requests_.data(); }
  MPI_Request* at(std::size_t index) { return &requests_[index]; }
  int size() const { return static_cast<int>(requests_.size()); }

 private:
  std::vector<MPI_Request> requests_;
};

class PersistentChannel final : public Channel {
 public:
  PersistentChannel(MPI_Comm communicator, std::span<const Message> sends,
                    std::span<const Message> receives);
  ~PersistentChannel() override;

  void start_receives() override;
  void start_send(std::size_t send) override;
  void await_receive(std::size_t receive) override { await(receive); }
  void await_send(std::size_t send) override { await(receives_ + send); }
  bool received(std::size_t receive) override { return !transfers_[receive].under_way; }
  bool sent(std::size_t send) override { return !transfers_[receives_ + send].under_way; }
  void poll() override;
  void finish() override;
  bool finished() override { return under_way_ == 0; }

 private:
  struct Transfer {
    Message message;
    bool under_way = false;
  };

  void add(MPI_Comm communicator, const Message& message, bool receive);
  void await(std::size_t index);
  void complete(std::size_t index, const MPI_Status& status);
  void check_harvest(int code, int harvested) const;
  void poll_one_by_one();
  std::string purpose(std::size_t index) const;

  std::size_t receives_;
  int largest_tag_ = largest_tag();
  std::size_t under_way_ = 0;
  std::vector<Transfer> transfers_;    // receives, then sends; as in requests_
  std::vector<UniqueDatatype> types_;  // for messages with more bytes than an int counts
  RequestArray requests_;
  std::vector<int> harvest_;  // output of MPI_Testsome
  std::vector<MPI_Status> statuses_;
};

PersistentChannel::PersistentChannel(MPI_Comm communicator, std::span<const Message> sends,
                                     std::span<const Message> receives)
    : receives_(receives.size()), requests_(sends.size() + receives.size()) {
  const std::size_t count = sends.size() + receives.size();
  transfers_.reserve(count);
  for (const Message& message : receives) add(communicator, message, true);
  for (const Message& message : sends) add(communicator, message, false);
  harvest_.resize(count);
  statuses_.resize(count);
}

PersistentChannel::~PersistentChannel() {
  for (std::size_t index = 0; index < receives_; ++index) {
    if (transfers_[index].under_way) MPI_Cancel(requests_.at(index));
  }
}

void PersistentChannel::add(MPI_Comm communicator, const Message& message, bool receive) {
  transfers_.push_back({message});
  MPI_Datatype type = MPI_BYTE;
  int count = 1;
  if (message.size_bytes <= kMaxCount) {
    count = static_cast<int>(message.size_bytes);
  } else {
    types_.push_back(contiguous_bytes(message.size_bytes, kBlockBytes));
    type = types_.back().get();
  }
  const int peer = static_cast<int>(message.peer.index());
  const std::size_t index = transfers_.size() - 1;
  if (message.tag < 0 || message.tag > largest_tag_) {
    throw RunError(purpose(index) + ": the tags of this MPI library end at " +
                   std::to_string(largest_tag_) + "; use another library, or a smaller network");
  }
  MPI_Request* request = requests_.add();
  if (receive) {
    HIOS_MPI_FOR(MPI_Recv_init(message.data, count, type, peer, message.tag, communicator, request),
                 purpose(index));
  } else if (message.synchronous) {
    HIOS_MPI_FOR(
        MPI_Ssend_init(message.data, count, type, peer, message.tag, communicator, request),
        purpose(index));
  } else {
    HIOS_MPI_FOR(MPI_Send_init(message.data, count, type, peer, message.tag, communicator, request),
                 purpose(index));
  }
}

void PersistentChannel::start_receives() {
  if (receives_ == 0) return;
  HIOS_MPI(MPI_Startall(static_cast<int>(receives_), requests_.data()));
  for (std::size_t index = 0; index < receives_; ++index) transfers_[index].under_way = true;
  under_way_ += receives_;
}

void PersistentChannel::start_send(std::size_t send) {
  const std::size_t index = receives_ + send;
  HIOS_MPI_FOR(MPI_Start(requests_.at(index)), purpose(index));
  transfers_[index].under_way = true;
  ++under_way_;
}

void PersistentChannel::await(std::size_t index) {
  if (!transfers_[index].under_way) return;
  MPI_Status status;
  HIOS_MPI_FOR(MPI_Wait(requests_.at(index), &status), purpose(index));
  complete(index, status);
}

void PersistentChannel::poll() {
  if constexpr (kHarvestOneByOne) return poll_one_by_one();
  if (under_way_ == 0) return;
  int harvested = 0;
  const int code = MPI_Testsome(requests_.size(), requests_.data(), &harvested, harvest_.data(),
                                statuses_.data());
  check_harvest(code, harvested);
  for (int i = 0; i < harvested; ++i) {
    complete(static_cast<std::size_t>(harvest_[i]), statuses_[i]);
  }
}

void PersistentChannel::poll_one_by_one() {
  for (int found = 1; found != 0 && under_way_ > 0;) {
    int index = MPI_UNDEFINED;
    MPI_Status status;
    const int code = MPI_Testany(requests_.size(), requests_.data(), &index, &found, &status);
    if (code != MPI_SUCCESS) {
      throw_mpi_error(
          code, "MPI_Testany",
          index < 0 ? "progressing messages" : purpose(static_cast<std::size_t>(index)));
    }
    if (found != 0) complete(static_cast<std::size_t>(index), status);
  }
}

void PersistentChannel::finish() {
  for (std::size_t index = 0; index < transfers_.size(); ++index) await(index);
}

/// Throws if a message failed. MPI_Testsome names the message and the reason in the statuses alone.
void PersistentChannel::check_harvest(int code, int harvested) const {
  if (code == MPI_SUCCESS) return;
  for (int i = 0; code == MPI_ERR_IN_STATUS && i < harvested; ++i) {
    if (statuses_[i].MPI_ERROR == MPI_SUCCESS) continue;
    throw_mpi_error(statuses_[i].MPI_ERROR, "MPI_Testsome",
                    purpose(static_cast<std::size_t>(harvest_[i])));
  }
  throw_mpi_error(code, "MPI_Testsome", "progressing messages");
}

/// Checks the received size. MPI itself reports a message that is too long; one that is too short
/// would go unnoticed.
void PersistentChannel::complete(std::size_t index, const MPI_Status& status) {
  transfers_[index].under_way = false;
  --under_way_;
  if (index >= receives_) return;
  MPI_Count received = 0;
  HIOS_MPI_FOR(MPI_Get_elements_x(&status, MPI_BYTE, &received), purpose(index));
  if (static_cast<Bytes>(received) != transfers_[index].message.size_bytes) {
    throw RunError(purpose(index) + ": only " + std::to_string(received) + " bytes arrived");
  }
}

std::string PersistentChannel::purpose(std::size_t index) const {
  const Message& message = transfers_[index].message;
  const bool receive = index < receives_;
  return std::string(receive ? "receiving " : "sending ") + std::to_string(message.size_bytes) +
         " bytes " + (receive ? "from" : "to") + " rank " + std::to_string(message.peer.index()) +
         ", tag " + std::to_string(message.tag);
}

}  // namespace

UniqueDatatype contiguous_bytes(Bytes size_bytes, Bytes block_bytes) {
  const Bytes blocks = size_bytes / block_bytes;
  UniqueDatatype block;
  HIOS_MPI(MPI_Type_contiguous(static_cast<int>(block_bytes), MPI_BYTE, block.out()));
  std::array<int, 2> counts = {static_cast<int>(blocks),
                               static_cast<int>(size_bytes % block_bytes)};
  std::array<MPI_Aint, 2> offsets = {0, static_cast<MPI_Aint>(blocks * block_bytes)};
  std::array<MPI_Datatype, 2> types = {block.get(), MPI_BYTE};
  UniqueDatatype whole;
  HIOS_MPI(MPI_Type_create_struct(2, counts.data(), offsets.data(), types.data(), whole.out()));
  HIOS_MPI(MPI_Type_commit(whole.out()));
  return whole;
}

std::unique_ptr<Channel> open_requests(MPI_Comm communicator, std::span<const Message> sends,
                                       std::span<const Message> receives) {
  return std::make_unique<PersistentChannel>(communicator, sends, receives);
}

}  // namespace hios::mpi
