#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mpi/accelerator.h"
#include "mpi/routes/inner_messages.h"

namespace hios::mpi {

/// One side of one message of a device channel: the actions by which a route moves it. It queues
/// work on the device and messages on the wrapped transport; it never waits, and after set-up never
/// allocates. In every iteration the channel calls start(), push() until it returns true, settle()
/// once ready() holds, and then ended() until it returns true.
class Endpoint {
 public:
  virtual ~Endpoint() = default;

  /// Returns the lines that the other side's accept() receives. For set-up, by routes that need it
  /// (Route::exchanges_offers).
  virtual std::vector<std::string> offer() { return {}; }
  virtual void accept(std::span<const std::string> offered) { (void)offered; }

  /// Called when the wrapped channel's receives have been posted for this iteration.
  virtual void posted() {}
  /// Starts the message. A send carries the result of all work that is in the device's work queue
  /// by now. A receive starts with posted().
  virtual void start() = 0;
  /// Takes all steps that are possible by now. Returns true once none is left for this rank; the
  /// rest happens without its help.
  virtual bool push() { return true; }
  /// Returns true if the await may return.
  virtual bool ready() = 0;
  /// Orders the device's work queue after the message. REQUIRES: ready().
  virtual void settle() {}
  /// Returns true if the next iteration may start. REQUIRES: push() returned true and settle() was
  /// called.
  virtual bool ended() { return true; }
  /// Returns true if start(), push() and settle() only queue work, so that they can be part of a
  /// recording; once an earlier message of the plan's order has been pushed, push() returns true.
  virtual bool recordable() const { return false; }
  /// Forgets an iteration that was recorded, as a whole or in part.
  virtual void forget() {}
  /// Throws if this message, or one of its route, is known to have failed. Does not wait.
  virtual void check() {}
  /// Ends all work of the device that waits for another rank's part in this route's messages, as
  /// Channel::abandon.
  virtual bool abandon() noexcept { return true; }
  /// Releases everything that accept() took from the other side; the endpoint cannot be used
  /// afterwards.
  virtual void disconnect() {}
};

/// The state that a route's messages share on a rank, in all its channels (Route::join).
class SharedByRoute {
 public:
  virtual ~SharedByRoute() = default;
};

/// Everything an endpoint is made from. `device` is null for a rank that computes in host memory.
struct EndpointContext {
  Accelerator* device;
  InnerMessages& inner;
  TagBook& tags;
  SharedByRoute* shared = nullptr;  ///< of the message's route
};

}  // namespace hios::mpi
