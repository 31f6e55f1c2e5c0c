#include "mpi/messages/communicator.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <thread>

#include "mpi/messages/gpu_support.h"
#include "mpi/messages/launcher.h"
#include "mpi/messages/mpi_library.h"
#include "mpi/messages/requests.h"

namespace hios::mpi {
namespace {

/// The time that the reader of our output gets, under any load, before a job is aborted.
constexpr std::chrono::milliseconds kReaderPatience{5000};
constexpr std::chrono::milliseconds kPrintingPause{50};

/// Broadcasts one rank's bytes to every rank. MPI counts in int, so long texts go in blocks.
void broadcast_bytes(MPI_Comm communicator, std::string& text, int root) {
  constexpr std::size_t kBlock = std::size_t{1} << 30;
  for (std::size_t done = 0; done < text.size(); done += kBlock) {
    const auto count = static_cast<int>(std::min(kBlock, text.size() - done));
    HIOS_MPI(MPI_Bcast(text.data() + done, count, MPI_BYTE, root, communicator));
  }
}

std::string processor_name() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  HIOS_MPI(MPI_Get_processor_name(name.data(), &length));
  return std::string(name.data(), static_cast<std::size_t>(length));
}

}  // namespace

UniqueCommunicator duplicate(MPI_Comm parent) {
  UniqueCommunicator copy;
  HIOS_MPI(MPI_Comm_dup(parent, copy.out()));
  HIOS_MPI(MPI_Comm_set_errhandler(copy.get(), MPI_ERRORS_RETURN));
  return copy;
}

std::vector<std::string> all_gather_text(MPI_Comm communicator, const std::string& text) {
  int rank = 0, size = 0;
  HIOS_MPI(MPI_Comm_rank(communicator, &rank));
  HIOS_MPI(MPI_Comm_size(communicator, &size));
  const std::uint64_t length = text.size();
  std::vector<std::uint64_t> lengths(static_cast<std::size_t>(size));
  HIOS_MPI(MPI_Allgather(&length, 1, MPI_UINT64_T, lengths.data(), 1, MPI_UINT64_T, communicator));

  // One broadcast for each rank instead of MPI_Allgatherv: its offsets are int, and their sums
  // overflow first.
  std::vector<std::string> texts(lengths.size());
  for (int root = 0; root < size; ++root) {
    std::string& mine = texts[static_cast<std::size_t>(root)];
    if (root == rank) {
      mine = text;
    } else {
      mine.resize(lengths[static_cast<std::size_t>(root)]);
    }
    broadcast_bytes(communicator, mine, root);
  }
  return texts;
}

void abort_job(int exit_status) {
  let_launcher_read(kReaderPatience);
  // The launcher prints a moment after it has read, and a terminal in its place shows no rest.
  std::this_thread::sleep_for(kPrintingPause);
  MPI_Abort(MPI_COMM_WORLD, exit_status);
  std::_Exit(exit_status);
}

MpiTransport::MpiTransport(MPI_Comm parent)
    : communicator_(duplicate(parent)), host_(processor_name()) {
  int rank = 0, size = 0, host_rank = 0, host_size = 0;
  HIOS_MPI(MPI_Comm_rank(communicator_.get(), &rank));
  HIOS_MPI(MPI_Comm_size(communicator_.get(), &size));
  rank_ = Rank(static_cast<std::size_t>(rank));
  size_ = static_cast<std::size_t>(size);

  UniqueCommunicator host;
  HIOS_MPI(MPI_Comm_split_type(communicator_.get(), MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL,
                               host.out()));
  HIOS_MPI(MPI_Comm_rank(host.get(), &host_rank));
  HIOS_MPI(MPI_Comm_size(host.get(), &host_size));
  local_rank_ = launched_local_rank().value_or(static_cast<std::size_t>(host_rank));
  local_size_ = launched_local_size().value_or(static_cast<std::size_t>(host_size));
  path_ = describe_mpi_library(communicator_.get(), host.get());
  cuda_aware_ = mpi_says_cuda_aware();
  host.close();
}

void MpiTransport::barrier() { HIOS_MPI(MPI_Barrier(communicator_.get())); }

std::vector<std::string> MpiTransport::all_gather(const std::string& text) {
  return all_gather_text(communicator_.get(), text);
}

std::string MpiTransport::broadcast(const std::string& text) {
  std::uint64_t length = text.size();
  HIOS_MPI(MPI_Bcast(&length, 1, MPI_UINT64_T, 0, communicator_.get()));
  std::string result = rank_ == Rank(0) ? text : std::string(length, '\0');
  broadcast_bytes(communicator_.get(), result, 0);
  return result;
}

void MpiTransport::all_reduce_max(std::span<double> values) {
  HIOS_MPI(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE,
                         MPI_MAX, communicator_.get()));
}

std::unique_ptr<Channel> MpiTransport::open_channel(std::span<const Message> sends,
                                                    std::span<const Message> receives) {
  return open_requests(communicator_.get(), sends, receives);
}

void MpiTransport::abort(int exit_code) { abort_job(exit_code); }

void MpiTransport::close() { communicator_.close(); }

}  // namespace hios::mpi
