#include "scheduler/algorithms/hios/merge_trials.h"

#include <algorithm>
#include <cmath>

// A stage's end follows from its inputs, its tail (from its end to the end of the schedule) from
// its consumers. Merging some stages changes neither ends before them nor tails after them. So with
// the merged stage's end and tail from its neighbours,
//   latency' = max( end + tail, longest path that avoids the members ),
// and every path that avoids them crosses the cut at their position in the topological order by
// exactly one arc (a, b), or ends before or begins after it:
//   avoiding = max over a before and b after of end(a) + transfer + cost(b) + tail(b).
//
// Candidates come roughly in topological order, so the cut moves by a few positions from one to the
// next. Arrivals at b from all stages before the cut are kept as ready(b): raised while the cut
// moves forward, found again from b's inputs while it moves back. A tree has ready(b) + cost(b) +
// tail(b) by b's position, so it knows the longest path over all arcs from before the cut to
// positions after the members. Only stages between the members are visited one by one.
//
// After a merge, ends after it and tails before it are stale. They are renewed where they changed,
// and no further than to the next candidate's positions: ends up to its last member, tails from its
// first one on. So a candidate costs O(log n) for each arc that the cut passes, and a merge little
// more. In a graph of bounded width with rare ties, that is near-linear in all.
//
// Where receivers copy, an arc to the next stage on a device takes the time of the copies before
// that one. Merging neighbours adds them up and changes no others. Copies of tensors that arrive
// one shortly after the other may end later than that: then simulate() may start a stage later than
// an end here says.
//
// Rounding. Ends are added up as simulate() adds them. Tails add the same times in another order,
// so lengths are compared with a margin. A path of n stages has fewer than 2n times and transfers,
// so each sum of it differs from the true one by less than 2n·2⁻⁵³ of it. Two latencies and two
// paths, each a sum in its order, differ by rounding by less than n·2⁻⁵⁰. Within that margin, the
// merged schedule is simulated from the members on, as far as ends change (exact_latency). Two
// rules avoid that:
//  - A path without changed arcs keeps its length to the last bit, and no latency is below a path.
//    So if no member is on a path as long as the latency (up to the margin), the merge does not
//    reduce the latency.
//  - Likewise, if the best candidate's latency is that of a path that avoids its members, and no
//    path through the further members of a larger candidate comes near it, the larger one is no
//    better.

namespace hios::scheduler {

MergeTrials::MergeTrials(StageGraph& stages)
    : stages_(stages),
      margin_(std::ldexp(static_cast<double>(stages.position_count() + 2), -50)),
      times_(stages.position_count()),
      stale_ends_(stages.position_count()),
      stale_tails_(stages.position_count()),
      lengths_(stages.position_count()),
      ended_(stages.position_count()),
      changed_(stages.position_count()) {
  for (std::size_t position = stages.position_count(); position-- > 0;) {
    const NodeId node = stages.at(position);
    if (node != StageGraph::kNone) times_[node].tail_ms = tail_of(node);
    enter_length(position);
  }
  for (std::size_t position = 0; position < stages.position_count(); ++position) {
    const NodeId node = stages.at(position);
    if (node == StageGraph::kNone) continue;
    times_[node].end_ms = start_of(node, true) + stages.cost_ms(node);
  }
  latency_ms_ = last_end();
  exact_latency_ms_ = latency_ms_;
}

/// Returns the earliest start by its inputs; `in_order`: also by the previous stage on its device.
double MergeTrials::start_of(NodeId node, bool in_order) const {
  const NodeId before = stages_.before(node);
  double start = 0;
  if (in_order && before != StageGraph::kNone) {
    start = times_[before].end_ms + stages_.copy_ms(node);
  }
  stages_.for_each_input(node, [&](NodeId from, double transfer_ms) {
    start = std::max(start, times_[from].end_ms + transfer_ms);
  });
  return start;
}

template <class Visit>
void MergeTrials::for_each_dependent(NodeId node, Visit visit) const {
  const NodeId after = stages_.after(node);
  if (after != StageGraph::kNone) visit(after, stages_.copy_ms(after));
  stages_.for_each_output(node, visit);
}

template <class Visit>
void MergeTrials::for_each_dependency(NodeId node, Visit visit) const {
  if (stages_.before(node) != StageGraph::kNone) visit(stages_.before(node));
  stages_.for_each_input(node, [&](NodeId from, double) { visit(from); });
}

double MergeTrials::length_from(NodeId node) const {
  return stages_.cost_ms(node) + times_[node].tail_ms;
}

double MergeTrials::tail_of(NodeId node) const {
  const NodeId after = stages_.after(node);
  double tail = after != StageGraph::kNone ? stages_.copy_ms(after) + length_from(after) : 0;
  stages_.for_each_output(node, [&](NodeId to, double transfer_ms) {
    tail = std::max(tail, transfer_ms + length_from(to));
  });
  return tail;
}

/// Makes all ends up to the position valid.
void MergeTrials::renew_ends_up_to(std::size_t position) {
  for (auto at = stale_ends_.next(cut_); at && *at <= position; at = stale_ends_.next(*at)) {
    stale_ends_.erase(*at);
    const NodeId node = stages_.at(*at);
    const double end = start_of(node, true) + stages_.cost_ms(node);
    if (end == times_[node].end_ms) continue;
    times_[node].end_ms = end;
    for_each_dependent(node,
                       [this](NodeId to, double) { stale_ends_.insert(stages_.position(to)); });
  }
}

/// Makes all tails from the position on valid, and the lengths that follow from them.
void MergeTrials::renew_tails_from(std::size_t position) {
  const std::size_t all = stages_.position_count();
  for (auto at = stale_tails_.last_before(all); at && *at >= position;
       at = stale_tails_.last_before(*at)) {
    stale_tails_.erase(*at);
    const NodeId node = stages_.at(*at);
    const double tail = tail_of(node);
    if (tail == times_[node].tail_ms) continue;
    times_[node].tail_ms = tail;
    enter_length(*at);
    for_each_dependency(node, [this](NodeId from) { stale_tails_.insert(stages_.position(from)); });
  }
}

void MergeTrials::enter_length(std::size_t position) {
  const NodeId node = stages_.at(position);
  const bool empty = node == StageGraph::kNone;
  lengths_.set(position, empty ? MaxTree::kLeast : times_[node].ready_ms + length_from(node));
}

void MergeTrials::raise_ready(NodeId node, double ms) {
  if (ms <= times_[node].ready_ms) return;
  times_[node].ready_ms = ms;
  enter_length(stages_.position(node));
}

/// Finds ready_ms from all stages before the cut again.
void MergeTrials::renew_ready(NodeId node) {
  double ready = 0;
  const auto arrive = [&](NodeId from, double transfer_ms) {
    if (stages_.position(from) < cut_) ready = std::max(ready, times_[from].end_ms + transfer_ms);
  };
  if (stages_.before(node) != StageGraph::kNone) {
    arrive(stages_.before(node), stages_.copy_ms(node));
  }
  stages_.for_each_input(node, arrive);
  if (ready == times_[node].ready_ms) return;
  times_[node].ready_ms = ready;
  enter_length(stages_.position(node));
}

/// REQUIRES: ends before the position are valid.
void MergeTrials::move_cut_to(std::size_t position) {
  for (; cut_ < position; ++cut_) {
    const NodeId node = stages_.at(cut_);
    if (node == StageGraph::kNone) continue;
    const double end = times_[node].end_ms;
    bool last = true;
    for_each_dependent(node, [&](NodeId to, double transfer_ms) {
      last = false;
      raise_ready(to, end + transfer_ms);
    });
    if (last) ended_.set(cut_, end);
  }
  while (cut_ > position) {
    const NodeId node = stages_.at(--cut_);
    if (node == StageGraph::kNone) continue;
    bool last = true;
    for_each_dependent(node, [&](NodeId to, double) {
      last = false;
      renew_ready(to);
    });
    if (last) ended_.set(cut_, MaxTree::kLeast);
  }
}

double MergeTrials::end_of_merged(const std::vector<NodeId>& members, double cost_ms) const {
  double start = 0, copies = 0;
  for (NodeId member : members) {
    start = std::max(start, start_of(member, false));
    copies += stages_.copy_ms(member);
  }
  const NodeId before = stages_.before(members.front());
  if (before != StageGraph::kNone) start = std::max(start, times_[before].end_ms + copies);
  return start + cost_ms;
}

double MergeTrials::tail_of_merged(const std::vector<NodeId>& members) const {
  const NodeId after = stages_.after(members.back());
  double tail = after != StageGraph::kNone ? stages_.copy_ms(after) + length_from(after) : 0;
  for (NodeId member : members) {
    stages_.for_each_output(member, [&](NodeId to, double transfer_ms) {
      tail = std::max(tail, transfer_ms + length_from(to));
    });
  }
  return tail;
}

bool MergeTrials::on_longest_path(const std::vector<NodeId>& members) const {
  return std::any_of(members.begin(), members.end(), [&](NodeId member) {
    return !surely_less(times_[member].end_ms + times_[member].tail_ms, latency_ms_);
  });
}

/// Returns the longest path through this stage that continues after the members.
double MergeTrials::longest_out_of(NodeId node) const {
  const double end = times_[node].end_ms;
  const NodeId after = stages_.after(node);
  double longest = end;
  if (after != StageGraph::kNone && stages_.after_members(after)) {
    longest += stages_.copy_ms(after) + length_from(after);
  }
  stages_.for_each_output(node, [&](NodeId to, double transfer_ms) {
    if (!stages_.after_members(to)) return;
    longest = std::max(longest, end + transfer_ms + length_from(to));
  });
  return longest;
}

/// Returns the longest path that avoids the members of the last mergeable() and is not a part of a
/// path through them. REQUIRES: the cut is before the first member.
double MergeTrials::longest_avoiding() const {
  const std::size_t end = stages_.member_positions().second;
  double longest = std::max({0.0, ended_.greatest(), lengths_.greatest_from(end + 1)});
  for (NodeId node : stages_.dependent()) {
    longest = std::max(longest, times_[node].ready_ms + length_from(node));
  }
  for (NodeId node : stages_.independent()) longest = std::max(longest, longest_out_of(node));
  return longest;
}

void MergeTrials::try_merging(const std::vector<NodeId>& members, double cost_ms) {
  const double least = best_ ? best_->latency_ms : latency_ms_;
  renew_ends_up_to(stages_.position(members.back()));
  renew_tails_from(stages_.position(members.front()));
  Candidate candidate;
  candidate.end_ms = end_of_merged(members, cost_ms);
  candidate.through_ms = candidate.end_ms + tail_of_merged(members);
  if (surely_less(least, candidate.through_ms) || !on_longest_path(members)) return;
  move_cut_to(stages_.position(members.front()));
  candidate.avoiding_ms = longest_avoiding();
  candidate.latency_ms = std::max(candidate.through_ms, candidate.avoiding_ms);
  if (surely_less(least, candidate.latency_ms)) return;
  candidate.members = members;
  candidate.cost_ms = cost_ms;
  if (surely_less(candidate.latency_ms, least) || exactly_less(candidate)) {
    best_ = std::move(candidate);
  }
}

void MergeTrials::try_in_slack(const std::vector<NodeId>& members, double cost_ms) {
  renew_ends_up_to(stages_.position(members.back()));
  renew_tails_from(stages_.position(members.front()));
  Candidate candidate;
  candidate.end_ms = end_of_merged(members, cost_ms);
  candidate.through_ms = candidate.end_ms + tail_of_merged(members);
  if (!surely_less(candidate.through_ms, latency_ms_)) return;
  candidate.members = members;
  candidate.cost_ms = cost_ms;
  candidate.latency_ms = latency_ms_;  // paths around the members stay as they are
  best_ = std::move(candidate);
}

void MergeTrials::renew_latency() {
  renew_ends_up_to(stages_.position_count() - 1);
  latency_ms_ = last_end();
}

/// Returns true if the best candidate's latency is surely that of a path that the larger candidate
/// does not change.
bool MergeTrials::best_avoids(const Candidate& candidate) const {
  if (!best_ || !surely_less(best_->through_ms, best_->avoiding_ms)) return false;
  for (std::size_t i = best_->members.size(); i < candidate.members.size(); ++i) {
    const NodeId member = candidate.members[i];
    const double entering = start_of(member, false) + length_from(member);
    if (!surely_less(entering, best_->avoiding_ms)) return false;
  }
  return true;
}

bool MergeTrials::exactly_less(Candidate& candidate) {
  if (best_avoids(candidate)) return false;
  if (best_) return exact_latency(candidate) < exact_latency(*best_);
  if (!exact_latency_ms_) {
    renew_ends_up_to(stages_.position_count() - 1);
    exact_latency_ms_ = last_end();
  }
  return exact_latency(candidate) < *exact_latency_ms_;
}

/// Returns simulate()'s latency of the present stages. Ends do not fall along a device.
double MergeTrials::last_end() const {
  double latest = 0;
  for (NodeId node : stages_.last_on_devices()) {
    if (node != StageGraph::kNone) latest = std::max(latest, times_[node].end_ms);
  }
  return latest;
}

/// Sets the stage's end and marks its dependents as changed.
void MergeTrials::set_end(NodeId node, double end_ms) {
  if (end_ms == times_[node].end_ms) return;
  old_.push_back({node, times_[node].end_ms});
  times_[node].end_ms = end_ms;
  for_each_dependent(node, [this](NodeId to, double) { changed_.insert(stages_.position(to)); });
}

/// Returns simulate()'s latency with the candidate merged; restores all ends.
double MergeTrials::exact_latency(Candidate& candidate) {
  if (candidate.exact_ms) return *candidate.exact_ms;
  renew_ends_up_to(stages_.position_count() - 1);
  for (NodeId member : candidate.members) set_end(member, candidate.end_ms);
  for (NodeId member : candidate.members) changed_.erase(stages_.position(member));
  for (auto position = changed_.next(0); position; position = changed_.next(*position)) {
    changed_.erase(*position);
    const NodeId node = stages_.at(*position);
    set_end(node, start_of(node, true) + stages_.cost_ms(node));
  }
  candidate.exact_ms = last_end();
  for (std::size_t i = old_.size(); i-- > 0;) times_[old_[i].node].end_ms = old_[i].ms;
  old_.clear();
  return *candidate.exact_ms;
}

void MergeTrials::merge_best() {
  if (!best_) return;
  const Candidate best = std::move(*best_);
  best_.reset();
  const std::size_t begin = stages_.position(best.members.front());
  const std::size_t end = stages_.position(best.members.back());
  stages_.merge(best.members, best.cost_ms);
  const NodeId merged = best.members.front();
  for (NodeId member : best.members) {
    times_[merged].ready_ms = std::max(times_[merged].ready_ms, times_[member].ready_ms);
  }
  times_[merged].end_ms = start_of(merged, true) + best.cost_ms;
  times_[merged].tail_ms = tail_of(merged);
  if (stages_.copy_ms(merged) > 0) renew_ready(merged);  // it makes the copies of all members
  for_each_dependent(merged,
                     [this](NodeId to, double) { stale_ends_.insert(stages_.position(to)); });
  for_each_dependency(merged, [this](NodeId from) { stale_tails_.insert(stages_.position(from)); });
  latency_ms_ = best.latency_ms;
  exact_latency_ms_ = best.exact_ms;
  for (std::size_t position = begin; position <= end; ++position) enter_length(position);
}

}  // namespace hios::scheduler
