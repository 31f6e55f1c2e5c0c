#include "engine/job/tensor_transport.h"

#include "engine/job/device_agreement.h"
#include "hios/base/log.h"

namespace hios::job {

TensorTransport::TensorTransport(mpi::Transport& plain, Backend& backend,
                                 std::optional<mpi::Route> forced)
    : plain_(plain) {
  const DeviceSharers devices = gather_sharers(plain, backend);
  if (devices.empty()) return;
  for (const auto& [identity, ranks] : devices) {
    if (ranks.size() == 1 || plain.rank() != Rank(0)) continue;
    log::warning("ranks " + listed(ranks) + " share one GPU (" + identity +
                 "): they slow each other down, so the times hold for this case only");
  }
  routes_ = mpi::choose_routes(plain, backend.accelerator(),
                               {.cuda_aware_mpi = mpi::mpi_says_cuda_aware(), .forced = forced});
  wrapped_ = mpi::make_device_transport(plain, backend.accelerator(), *routes_);
}

std::optional<Json> TensorTransport::json() const {
  if (!routes_) return std::nullopt;
  Json by_pair = Json::array(), why_not = Json::array();
  for (std::size_t from = 0; from < routes_->ranks; ++from) {
    Json routes = Json::array(), reasons = Json::array();
    for (std::size_t to = 0; to < routes_->ranks; ++to) {
      const std::size_t pair = from * routes_->ranks + to;
      routes.push_back(from == to ? "-" : std::string(mpi::name(routes_->by_pair[pair])));
      reasons.push_back(routes_->why_not.empty() ? "" : routes_->why_not[pair]);
    }
    by_pair.push_back(std::move(routes));
    why_not.push_back(std::move(reasons));
  }
  return Json{{"by_pair", std::move(by_pair)}, {"why_not", std::move(why_not)}};
}

}  // namespace hios::job
