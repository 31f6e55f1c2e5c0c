#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mpi/messages/handles.h"
#include "mpi/transport.h"

namespace hios::mpi {

/// Duplicates `parent`; errors of the duplicate are returned as codes. Collective.
UniqueCommunicator duplicate(MPI_Comm parent);

/// Returns every rank's text, by rank, on every rank, however long. Collective.
std::vector<std::string> all_gather_text(MPI_Comm communicator, const std::string& text);

/// Ends all ranks of the job with this exit status, once the launcher has read what was printed, or
/// after some seconds.
[[noreturn]] void abort_job(int exit_status);

/// Ranks over MPI, on a duplicated communicator, so that no other messages match ours. It lives
/// between MPI_Init and MPI_Finalize.
class MpiTransport final : public Transport {
 public:
  /// Collective over `parent`.
  explicit MpiTransport(MPI_Comm parent);

  Rank rank() const override { return rank_; }
  std::size_t size() const override { return size_; }
  std::size_t local_rank() const override { return local_rank_; }
  std::size_t local_size() const override { return local_size_; }
  const std::string& host() const override { return host_; }
  std::string path() const override { return path_; }
  bool claims_device_memory() const override { return cuda_aware_; }

  void barrier() override;
  std::vector<std::string> all_gather(const std::string& text) override;
  std::string broadcast(const std::string& text) override;
  void all_reduce_max(std::span<double> values) override;
  std::unique_ptr<Channel> open_channel(std::span<const Message> sends,
                                        std::span<const Message> receives) override;
  [[noreturn]] void abort(int exit_code) override;

  /// Frees the communicator. Collective: only at the end of a job that succeeded. No other call may
  /// follow.
  void close();

 private:
  UniqueCommunicator communicator_;
  Rank rank_;
  std::size_t size_ = 0;
  std::size_t local_rank_ = 0;
  std::size_t local_size_ = 0;
  std::string host_;
  std::string path_;
  bool cuda_aware_ = false;
};

}  // namespace hios::mpi
