#include "hios/evaluate/cold/device_pace.h"

#include <algorithm>

namespace hios {

void DevicePace::load_started(Flows::FlowId load, const Route& route) {
  loads_.emplace_back(load, &route);
  changed();
}

void DevicePace::load_ended(Flows::FlowId load) {
  std::erase_if(loads_, [&](const auto& each) { return each.first == load; });
  changed();
}

void DevicePace::computes(bool yes) {
  computes_ = yes;
  read_.reset();
  for (const auto& load : loads_) limit(load);
}

void DevicePace::reads(Flows::FlowId read, double gb_per_s) {
  read_.emplace(read, gb_per_s);
  flows_->limit(read, gb_per_s / factor_);
}

void DevicePace::limit(const std::pair<Flows::FlowId, const Route*>& load) const {
  const auto& [flow, route] = load;
  flows_->limit(flow, computes_ ? route->gb_per_s / load_factor_ : route->gb_per_s);
}

void DevicePace::changed() {
  factor_ = load_factor_ = 1;
  for (const auto& [flow, route] : loads_) {
    factor_ += route->slowdown - 1;
    load_factor_ += route->load_slowdown - 1;
  }
  if (computes_) {
    for (const auto& load : loads_) limit(load);
  }
  if (read_) flows_->limit(read_->first, read_->second / factor_);
}

}  // namespace hios
