// Part of hios/evaluate/cost_model.h: the costs of tensors between devices. Tensors of equal size
// cost the same between the same two devices, so their edges share a row of costs. Devices that
// exchange tensors at the same cost with all others form a class, so a row has an entry for each
// pair of classes, not of devices. Where even these are too many, as with a different link between
// any two of many devices, each query computes its cost.
//
// Tests: tests/hios/evaluate/transfer_classes_test.cpp (equal to the costs by pair, to the bit).

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>

#include "hios/base/error.h"
#include "hios/evaluate/cost_model.h"
#include "hios/profile/profile_gaps.h"

namespace hios {
namespace {

/// Returns the edge's own time for the pair, if it has one.
std::optional<double> time_between(const Edge& edge, const Device& from, const Device& to) {
  if (!edge.transfer_by_pair) return std::nullopt;
  for (const std::string& sender : {from.name, from.kind}) {
    const auto receivers = edge.transfer_by_pair->find(sender);
    if (receivers == edge.transfer_by_pair->end()) continue;
    for (const std::string& receiver : {to.name, to.kind}) {
      const auto found = receivers->second.find(receiver);
      if (found != receivers->second.end()) return found->second;
    }
  }
  return std::nullopt;
}

}  // namespace

const TransferCurve* CostModel::curve(DeviceId from, DeviceId to) const {
  const Device& sender = platform_->device(from);
  const Device& receiver = platform_->device(to);
  const bool alike = sender.kind == receiver.kind && sender.identity == receiver.identity;
  for (const Configuration* configuration :
       {configurations_[from.index()], configurations_[to.index()]}) {
    // Measurements among equal devices say nothing about transfers to another kind.
    if (!configuration || (configuration->devices.empty() && !alike)) continue;
    for (const TransferCurve& curve : configuration->transfers) {
      if (curve.from == from.index() && curve.to == to.index() && !curve.points.empty()) {
        return &curve;
      }
    }
  }
  return nullptr;
}

CostModel::PairPrice CostModel::price(DeviceId from, DeviceId to) const {
  if (!platform_->topology()) {
    if (const TransferCurve* points = curve(from, to)) {
      return {points, std::nullopt, travel_ == Travel::kShared && !points->shared.empty()};
    }
  }
  return {nullptr, platform_->link(from, to)};
}

std::optional<double> CostModel::PairPrice::transfer_ms(Bytes size) const {
  if (curve) return curve_ms(shared ? curve->shared : curve->points, size);
  return link ? std::optional(link->transfer_ms(size)) : std::nullopt;
}

/// Returns true if all transfers to and from other devices cost the same for both, whatever the
/// tensor, as far as links and curves decide.
bool CostModel::exchange_alike(DeviceId a, DeviceId b) const {
  if (launch_ms(a) != launch_ms(b) || !(price(a, b) == price(b, a))) return false;
  for (std::size_t d = 0; d < platform_->size(); ++d) {
    const DeviceId other(d);
    if (other == a || other == b) continue;
    if (!(price(a, other) == price(b, other)) || !(price(other, a) == price(other, b))) {
      return false;
    }
  }
  return true;
}

// Being alike is transitive: where a ~ r and r ~ b, price(a, b) = price(r, b) = price(b, r) =
// price(b, a), and for any other device x price(a, x) = price(r, x) = price(b, x). So a comparison
// with one member of a class suffices, and all pairs within a class cost the same.
void CostModel::classify_devices() {
  std::set<std::string_view> named;  // names and kinds that tables of edges have
  std::set<const PairTimes*> tables;
  for (const Edge& edge : graph_->edges()) {
    if (!edge.transfer_by_pair || !tables.insert(edge.transfer_by_pair.get()).second) continue;
    for (const auto& [sender, receivers] : *edge.transfer_by_pair) {
      named.insert(sender);
      for (const auto& [receiver, ms] : receivers) named.insert(receiver);
    }
  }
  // Devices without a link of their own are alike where the default link serves all of them.
  const bool direct = !platform_->topology() && platform_->traffic().routing == Routing::kDirect &&
                      std::all_of(configurations_.begin(), configurations_.end(),
                                  [](const Configuration* each) { return each == nullptr; });
  std::vector<bool> linked(platform_->size(), !direct);
  for (const auto& [from, to, link] : platform_->links()) {
    linked[from.index()] = linked[to.index()] = true;
  }
  const auto called = [&](std::string_view name) {
    return named.contains(name) ? name : std::string_view();
  };
  const auto alike = [&](DeviceId a, DeviceId b) {
    const Device &one = platform_->device(a), &other = platform_->device(b);
    if (called(one.name) != called(other.name)) return false;
    if (called(one.kind) != called(other.kind)) return false;
    if (!linked[a.index()] && !linked[b.index()]) return launch_ms(a) == launch_ms(b);
    return exchange_alike(a, b);
  };
  for (std::size_t d = 0; d < platform_->size(); ++d) {
    std::size_t found = 0;
    while (found < class_members_.size() && !alike(class_members_[found].front(), DeviceId(d))) {
      ++found;
    }
    if (found == class_members_.size()) class_members_.emplace_back();
    class_members_[found].emplace_back(d);
    device_class_.push_back(static_cast<std::uint32_t>(found));
  }
  for (const auto& senders : class_members_) {
    for (const auto& receivers : class_members_) {
      const bool same = &senders == &receivers;
      const bool none = same && receivers.size() < 2;
      pair_price_.push_back(none ? PairPrice{} : price(senders.front(), receivers[same ? 1 : 0]));
    }
  }
}

std::optional<double> CostModel::own_transfer_ms(EdgeId id, DeviceId from, DeviceId to) const {
  const Edge& edge = graph_->edge(id);
  if (edge.transfer_ms) return edge.transfer_ms;
  return time_between(edge, platform_->device(from), platform_->device(to));
}

void CostModel::refuse_transfer(const Edge& edge, DeviceId from, DeviceId to) const {
  const Device& device = platform_->device(from);
  const bool routed = platform_->traffic().routing == Routing::kWidest;
  std::string text = (routed ? "no route from " : "no transfer time from ") + device.name + " to " +
                     platform_->device(to).name + " for the edge " + graph_->op(edge.from).name +
                     " -> " + graph_->op(edge.to).name;
  if (edge.transfer_by_pair && edge.size_bytes == 0) {
    throw InputError(text + ": its transfer_ms does not name the pair, and it has no bytes; give " +
                     "one of the two");
  }
  if (platform_->topology()) {
    throw InputError(text + ": give the platform a route between the two, or the edge transfer_ms");
  }
  if (const Configuration* configuration = configurations_[from.index()]) {
    throw InputError(text + " in the profile (" + describe(*configuration) + ")",
                     measurement_of(from, *platform_, profile_file_, *graph_));
  }
  if (routed) {
    throw InputError(text + ": no path of the platform's links leads there; give it a link or a " +
                     "default_link, or the edge transfer_ms");
  }
  throw InputError(text + ": give the edge transfer_ms, or the platform a default_link");
}

/// Returns the time of an edge without the launch; nothing where no rule gives one.
std::optional<double> CostModel::edge_ms(const Edge& edge, DeviceId from, DeviceId to) const {
  if (edge.transfer_ms) return edge.transfer_ms;
  if (edge.transfer_by_pair) {
    const auto own = time_between(edge, platform_->device(from), platform_->device(to));
    if (own || edge.size_bytes == 0) return own;
  }
  return pair_price_[pair_class(from, to)].transfer_ms(edge.size_bytes);
}

double CostModel::pair_ms(EdgeId edge, DeviceId from, DeviceId to) const {
  return edge_ms(graph_->edge(edge), from, to).value() + launch_ms(to);
}

/// Computes the costs of an edge by class of sender and receiver. Throws for the first pair of
/// devices that has none.
void CostModel::fill_row(const Edge& edge, std::vector<double>& row) const {
  std::optional<std::pair<DeviceId, DeviceId>> missing;
  row.assign(pair_price_.size(), 0);
  for (std::size_t a = 0; a < class_members_.size(); ++a) {
    for (std::size_t b = 0; b < class_members_.size(); ++b) {
      if (a == b && class_members_[b].size() < 2) continue;
      const std::pair pair(class_members_[a].front(), class_members_[b][a == b ? 1 : 0]);
      const auto ms = edge_ms(edge, pair.first, pair.second);
      if (ms) {
        row[a * class_members_.size() + b] = *ms + launch_ms(pair.second);
      } else if (!missing || pair < *missing) {
        missing = pair;
      }
    }
  }
  if (missing) refuse_transfer(edge, missing->first, missing->second);
}

/// Returns the sum over ordered pairs of devices. Adds them one by one, in the devices' order, as
/// long as they are few enough, since the rounding of means decides ties.
double CostModel::sum_of_pairs(std::span<const double> row) const {
  constexpr std::size_t kFew = 512;
  const std::size_t classes = class_members_.size(), devices = platform_->size();
  double sum = 0;
  for (std::size_t a = 0; a < devices && devices <= kFew; ++a) {
    const std::span<const double> senders = row.subspan(device_class_[a] * classes, classes);
    for (std::size_t b = 0; b < devices; ++b) {
      if (a != b) sum += senders[device_class_[b]];
    }
  }
  for (std::size_t a = 0; a < classes && devices > kFew; ++a) {
    for (std::size_t b = 0; b < classes; ++b) {
      const std::size_t receivers = class_members_[b].size() - (a == b ? 1 : 0);
      sum += row[a * classes + b] * static_cast<double>(class_members_[a].size() * receivers);
    }
  }
  return sum;
}

// Where tensors wait for each other, transfers are priced by that alone.
void CostModel::fill_charges() {
  if (platform_->contention() != Contention::kNone) return;
  for (std::size_t d = 0; d < platform_->size(); ++d) {
    if (const auto& charge = platform_->device(DeviceId(d)).io_charge) {
      receive_share_[d] = shared_share_[d] = charge->receive;
    } else if (configurations_[d] && configurations_[d]->io_charge) {
      receive_share_[d] = configurations_[d]->io_charge->charge.receive;
    }
    charges_receivers_ = charges_receivers_ || receive_share_[d] > 0;
  }
}

// Contention prices transfers alone, as above.
void CostModel::find_shared_memory() {
  if (platform_->contention() != Contention::kNone) return;
  for (std::size_t c = 0; c < pair_price_.size(); ++c) {
    if (!pair_price_[c].shared) continue;
    shares_memory_ = true;
    for (const DeviceId to : class_members_[c % class_members_.size()]) {
      charges_receivers_ = charges_receivers_ || shared_share_[to.index()] > 0;
    }
  }
}

void CostModel::find_ranges() {
  for (std::size_t op = 0; op < graph_->size(); ++op) {
    const auto edges = graph_->out_edges(OpId(op));
    const auto by_bytes = [&](EdgeId id) {
      const Edge& edge = graph_->edge(id);
      return !edge.transfer_ms && !edge.transfer_by_pair;
    };
    const auto partial = [&](EdgeId id) { return graph_->edge(id).range.has_value(); };
    const auto as_first = [&](EdgeId id) {
      return graph_->edge(id).read() == graph_->edge(edges.front()).read();
    };
    if (!std::ranges::any_of(edges, partial) || !std::ranges::all_of(edges, by_bytes) ||
        std::ranges::all_of(edges, as_first)) {
      continue;
    }
    sends_ranges_.resize(graph_->size(), false);
    sends_ranges_[op] = true;
  }
}

double CostModel::message_ms(Bytes size, DeviceId from, DeviceId to) const {
  return pair_price_[pair_class(from, to)].transfer_ms(size).value() + launch_ms(to);
}

void CostModel::fill_transfers() {
  constexpr std::size_t kMostEntries = std::size_t{1} << 23;  // of row_ms_: 64 MiB
  const std::size_t devices = platform_->size();
  fill_charges();
  if (devices > 1) find_ranges();
  transfer_cost_.resize(graph_->edge_count());
  mean_transfer_ms_.assign(graph_->edge_count(), 0);
  if (devices < 2) return;
  classify_devices();
  find_shared_memory();
  mean_launch_ms_ =
      std::accumulate(launch_ms_.begin(), launch_ms_.end(), 0.0) / static_cast<double>(devices);
  const bool launches = mean_launch_ms_ > 0;
  // Link::transfer_ms() of many pairs in a loop that the compiler makes parallel.
  std::vector<double> latency_ms, bytes_per_ms;
  const auto fill = [&](const Edge& edge, std::vector<double>& row) {
    if (latency_ms.empty() || edge.transfer_ms || edge.transfer_by_pair) return fill_row(edge, row);
    const auto size = static_cast<double>(edge.size_bytes);
    row.resize(latency_ms.size());
    for (std::size_t c = 0; c < row.size(); ++c) row[c] = latency_ms[c] + size / bytes_per_ms[c];
  };
  for (std::size_t c = 0; c < pair_price_.size() && !launches; ++c) {
    const auto& link = pair_price_[c].link;
    const std::size_t classes = class_members_.size();
    const bool none = c / classes == c % classes && class_members_[c % classes].size() < 2;
    if (!link && !none) {
      latency_ms.clear();
      break;
    }
    latency_ms.push_back(none ? 0 : link->latency_ms);
    bytes_per_ms.push_back(none ? std::numeric_limits<double>::infinity() : link->gb_per_s * 1e6);
  }
  using RowKey = std::tuple<const PairTimes*, std::optional<double>, Bytes>;
  std::map<RowKey, std::pair<std::uint32_t, double>> known;  // row, mean
  std::vector<double> row;
  bool tabulated = true;
  for (std::size_t e = 0; e < graph_->edge_count(); ++e) {
    const Edge& edge = graph_->edge(EdgeId(e));
    if (edge.transfer_ms && !launches) {
      transfer_cost_[e].ms = mean_transfer_ms_[e] = *edge.transfer_ms;
      continue;
    }
    const RowKey key{edge.transfer_by_pair.get(), edge.transfer_ms, edge.size_bytes};
    const auto [at, added] = known.try_emplace(key);
    if (added) {
      fill(edge, row);
      at->second = {static_cast<std::uint32_t>(rows_++),
                    sum_of_pairs(row) / static_cast<double>(devices * (devices - 1))};
      tabulated = tabulated && row_ms_.size() + row.size() <= kMostEntries;
      if (tabulated) row_ms_.insert(row_ms_.end(), row.begin(), row.end());
    }
    transfer_cost_[e] = {true, at->second.first, 0};
    mean_transfer_ms_[e] = at->second.second;
  }
  if (!tabulated) row_ms_ = {};
}

}  // namespace hios
