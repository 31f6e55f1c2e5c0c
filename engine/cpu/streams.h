#pragma once

#include <array>
#include <cstddef>
#include <exception>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/backend/backend.h"

namespace hios::cpu {

/// Returns the part of recommended_openmp_environment() (engine/backends.h) for this backend.
///
/// GOMP_SPINCOUNT: the number of times that an OpenMP thread looks for work before it sleeps.
/// libgomp's default makes it spin for several ms on a core that another stream, or another
/// program, may need by then. On a machine that also did something else, Inception-v3 on two
/// threads took ten times as long with it. Ours is some 50 to 250 µs, depending on the processor's
/// pause instruction. That is longer than the gaps between the operators of a stage and shorter
/// than most waits between stages.
std::span<const std::pair<std::string_view, std::string_view>> recommended_openmp_environment();

/// The cores of this rank as streams. A stage of one group runs on the calling (main) thread with
/// its OpenMP team. Stages whose groups have one core each run as that team's members: the same
/// threads serve parallelism within and between operators, so no threads compete by spinning. Where
/// a group has several cores, but not all, each group has a thread with an OpenMP team of its own,
/// because libgomp ends and starts threads whenever a team changes its size.
///
/// Main thread only. While this object lives, the main thread and all others are pinned, each to
/// its core (if cores were given); the main thread gets its old affinity back at the end.
class Streams {
 public:
  /// `cores`: one for each thread, as the operating system numbers them; empty: pins nothing.
  Streams(int threads, std::vector<int> cores);
  ~Streams();
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  /// Makes everything that run() needs for a core share. Call it after any other use of OpenMP on
  /// this thread: it also puts the team's threads back on their cores.
  void prepare(const CoreShare& share);

  /// Runs a stage, see Backend::run_stage. REQUIRES: prepare() of every core share.
  void run(std::span<const BoundGroup> groups, std::span<const CoreShare> shares,
           void (*poll)(void*), void* poll_argument);

 private:
  class Crew;
  struct Poll {
    void (*function)(void*);
    void* argument;
    void operator()() const {
      if (function != nullptr) function(argument);
    }
  };

  Crew& crew(const CoreShare& share);
  void run_in_team(std::span<const BoundGroup> groups, const Poll& poll);
  void run_in_crews(std::span<const BoundGroup> groups, std::span<const CoreShare> shares,
                    const Poll& poll);
  void pin_team();

  int threads_;
  std::vector<int> cores_;
  struct Affinity;
  std::unique_ptr<Affinity> original_;  // the main thread's affinity
  std::vector<std::exception_ptr> errors_;
  std::vector<std::unique_ptr<Crew>> crews_;
};

}  // namespace hios::cpu
