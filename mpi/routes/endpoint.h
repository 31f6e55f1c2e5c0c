#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mpi/accelerator.h"
#include "mpi/routes/inner_messages.h"

namespace hios::mpi {

/// One side of one message of a device channel: what a route does to move it. Queues on the device
/// and messages on the wrapped transport; never waits, and after set-up never allocates. The
/// channel calls, in every iteration: start(), push() until it says that it is done, settle() once
/// ready() holds, and then ended() until that holds too.
class Endpoint {
 public:
  virtual ~Endpoint() = default;

  /// Set-up, of routes that need it (Route::exchanges_offers): the lines that the other side's
  /// accept() is given.
  virtual std::vector<std::string> offer() { return {}; }
  virtual void accept(std::span<const std::string> offered) { (void)offered; }

  /// The wrapped channel's receives have been posted for this iteration.
  virtual void posted() {}
  /// A send: after what the device's work queue holds by now. A receive: with posted().
  virtual void start() = 0;
  /// Does what can be done by now. True once nothing is left to do, and the rest happens without
  /// this rank's help.
  virtual bool push() { return true; }
  /// Whether the await may return.
  virtual bool ready() = 0;
  /// Orders the device's work queue behind the message. REQUIRES: ready().
  virtual void settle() {}
  /// Whether the next iteration may start. REQUIRES: push() is done and settle() was called.
  virtual bool ended() { return true; }
  /// Lets go of what accept() took from the other side; it does no more then.
  virtual void disconnect() {}
};

/// What an endpoint is made from. `device` is null for a rank that computes in host memory.
struct EndpointParts {
  Accelerator* device;
  InnerMessages& inner;
  TagBook& tags;
};

}  // namespace hios::mpi
