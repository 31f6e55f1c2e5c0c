// Part of hios/evaluate/cost_model.h: the costs of tensors between devices. Tensors of equal size
// cost the same between the same two devices, so their edges share a row of costs.

#include <algorithm>
#include <numeric>
#include <unordered_map>

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

std::optional<double> CostModel::pair_transfer_ms(Bytes size, DeviceId from, DeviceId to) const {
  if (platform_->topology()) {
    const auto route = platform_->link(from, to);
    return route ? std::optional(route->transfer_ms(size)) : std::nullopt;
  }
  if (const TransferCurve* points = curve(from, to)) return points->transfer_ms(size);
  if (const auto link = platform_->link(from, to)) return link->transfer_ms(size);
  return std::nullopt;
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

void CostModel::fill_row(const Edge& edge, std::vector<double>& row) const {
  const std::size_t devices = platform_->size();
  row.assign(devices * devices, 0);
  for (std::size_t a = 0; a < devices; ++a) {
    for (std::size_t b = 0; b < devices; ++b) {
      if (a == b) continue;
      auto ms = edge.transfer_ms;
      if (!ms) {
        ms = time_between(edge, platform_->device(DeviceId(a)), platform_->device(DeviceId(b)));
      }
      const bool sized = !edge.transfer_by_pair || edge.size_bytes > 0;
      if (!ms && sized) ms = pair_transfer_ms(edge.size_bytes, DeviceId(a), DeviceId(b));
      if (!ms) refuse_transfer(edge, DeviceId(a), DeviceId(b));
      row[a * devices + b] = *ms + launch_ms(DeviceId(b));
    }
  }
}

// Where tensors wait for each other, or share buses, transfers are priced by these alone.
void CostModel::fill_charges() {
  if (platform_->topology() || platform_->contention() != Contention::kNone) return;
  for (std::size_t d = 0; d < platform_->size(); ++d) {
    if (const auto& charge = platform_->device(DeviceId(d)).io_charge) {
      receive_share_[d] = charge->receive;
    } else if (configurations_[d] && configurations_[d]->io_charge) {
      receive_share_[d] = configurations_[d]->io_charge->charge.receive;
    }
    charges_receivers_ = charges_receivers_ || receive_share_[d] > 0;
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
  return pair_transfer_ms(size, from, to).value() + launch_ms(to);
}

void CostModel::fill_transfers() {
  const std::size_t devices = platform_->size();
  fill_charges();
  if (devices > 1) find_ranges();
  transfer_cost_.resize(graph_->edge_count());
  mean_transfer_ms_.assign(graph_->edge_count(), 0);
  if (devices < 2) return;
  mean_launch_ms_ =
      std::accumulate(launch_ms_.begin(), launch_ms_.end(), 0.0) / static_cast<double>(devices);
  const bool launches = mean_launch_ms_ > 0;
  std::unordered_map<Bytes, std::pair<std::uint32_t, double>> classes;  // row, mean
  std::vector<double> row;
  std::uint32_t rows = 0;
  const auto add_row = [&](const Edge& edge) {
    fill_row(edge, row);
    pair_ms_.insert(pair_ms_.end(), row.begin(), row.end());
    const double mean =
        std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(devices * (devices - 1));
    return std::pair(rows++, mean);
  };
  for (std::size_t e = 0; e < graph_->edge_count(); ++e) {
    const Edge& edge = graph_->edge(EdgeId(e));
    if (edge.transfer_ms && !launches) {
      transfer_cost_[e].ms = mean_transfer_ms_[e] = *edge.transfer_ms;
      continue;
    }
    std::pair<std::uint32_t, double> row_and_mean;
    if (edge.transfer_by_pair || edge.transfer_ms) {
      row_and_mean = add_row(edge);
    } else {
      auto found = classes.find(edge.size_bytes);
      if (found == classes.end()) found = classes.emplace(edge.size_bytes, add_row(edge)).first;
      row_and_mean = found->second;
    }
    transfer_cost_[e] = {true, row_and_mean.first, 0};
    mean_transfer_ms_[e] = row_and_mean.second;
  }
}

}  // namespace hios
