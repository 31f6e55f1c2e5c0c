// Part of scheduler/bounds/bound_table.h: work_ms() and memory_ms(), bounds by Lagrangian
// relaxation.

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "scheduler/bounds/bound_table.h"

// M devices are busy for M times the latency at most, and every operator takes its work share of
// that: on devices that are alike, the latency is at least the sum of the shares over M. On others,
// what an operator takes depends on where it runs; and where memory is limited, a device cannot
// take more operators than it holds, so that others, slower perhaps, must take the rest. (What
// memory says of few operators is elsewhere: one device's room for an operator in places.cpp, for
// operators that cannot afford a transfer in colocation.cpp.)
//
// The constraints of time and memory are relaxed with a multiplier each, a price. Let T be the
// latency, h_d(v) the work share and b(v) the bytes of v, B_d the memory of device d.
// For any prices y_d >= 0 of a device's time, of sum 1, and z_d >= 0 of its memory: v costs
// y_d·h_d(v) + z_d·b(v) where it is, so at least the least of that over the devices that can run
// it; all together cost at most Σ y_d·T + Σ z_d·B_d. Hence T >= Σ_v min_d (y_d·h_d(v) + z_d·b(v)) −
// Σ z_d·B_d. (The linear program's dual, so the best prices are worth a fractional assignment.)
//
// Any prices give a bound; these are raised in a few rounds where operators crowd in and lowered
// elsewhere. Devices that are alike share a price. Equal prices and no memory are the first round:
// without differences between devices, all work shared evenly.

namespace hios::scheduler {
namespace {

/// Whether a device's memory counts.
enum class Memory { kIgnored, kLimited };

/// Devices that nothing distinguishes.
struct Kind {
  DeviceId device;
  double count = 1;
  double capacity = 0;  ///< bytes of one; 0: no limit
  double time_price = 0;
  double memory_price = 0;  ///< a byte
  double load_ms = 0;       ///< of all, in the last round
  double held = 0;          ///< bytes, likewise
};

class LagrangianDual {
 public:
  LagrangianDual(const BoundContext& context, const std::vector<OpId>& operators, Memory memory)
      : context_(context), operators_(operators), limited_(memory == Memory::kLimited) {
    find_kinds();
    fill_table();
  }

  double run() {
    constexpr std::size_t kRounds = 60, kLooks = 20'000'000;
    const std::size_t looks = std::max<std::size_t>(1, table_.size());
    const std::size_t rounds = kinds_.size() == 1 && !any_limit()
                                   ? 1
                                   : std::clamp<std::size_t>(kLooks / looks, 5, kRounds);
    double best = 0;
    for (std::size_t round = 0; round < rounds; ++round) {
      const double value = round_ms();
      best = std::max(best, value);
      if (context_.stopped()) break;  // every round's is a bound
      change_prices(1 / (1 + 0.25 * static_cast<double>(round)), best);
    }
    return best;
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  double work_ms(OpId op, DeviceId device) const {
    const auto& able = context_.places.devices(op);
    if (!std::binary_search(able.begin(), able.end(), device)) return kInfinity;
    return context_.shares.work_ms(op, device);
  }

  double capacity(DeviceId device) const {
    if (!limited_) return 0;
    return static_cast<double>(context_.costs.platform().device(device).memory_bytes);
  }

  bool alike(const Kind& kind, DeviceId device) const {
    if (kind.capacity != capacity(device)) return false;
    return std::all_of(operators_.begin(), operators_.end(),
                       [&](OpId op) { return work_ms(op, kind.device) == work_ms(op, device); });
  }

  void find_kinds() {
    for (std::size_t d = 0; d < context_.costs.platform().size(); ++d) {
      const DeviceId device(d);
      const auto known = std::find_if(kinds_.begin(), kinds_.end(),
                                      [&](const Kind& kind) { return alike(kind, device); });
      if (known != kinds_.end()) {
        ++known->count;
      } else {
        Kind kind;
        kind.device = device;
        kind.capacity = capacity(device);
        kinds_.push_back(kind);
      }
    }
    const auto devices = static_cast<double>(context_.costs.platform().size());
    for (Kind& kind : kinds_) kind.time_price = 1 / devices;
  }

  void fill_table() {
    for (OpId op : operators_) {
      for (const Kind& kind : kinds_) table_.push_back(work_ms(op, kind.device));
      const Operator& o = context_.graph.op(op);
      bytes_.push_back(static_cast<double>(o.memory_bytes) +
                       static_cast<double>(o.parameter_bytes));
    }
  }

  bool any_limit() const {
    return std::any_of(kinds_.begin(), kinds_.end(), [](const Kind& k) { return k.capacity > 0; });
  }

  /// The bound at these prices; records at each kind the work and bytes that fall to it.
  double round_ms() {
    double sum = 0;
    for (Kind& kind : kinds_) {
      kind.load_ms = kind.held = 0;
      sum -= kind.memory_price * kind.capacity * kind.count;
    }
    for (std::size_t i = 0; i < operators_.size(); ++i) {
      const std::span row = std::span(table_).subspan(i * kinds_.size(), kinds_.size());
      double least = kInfinity;
      std::size_t cheapest = 0;
      for (std::size_t k = 0; k < kinds_.size(); ++k) {
        if (row[k] == kInfinity) continue;
        const double cost = kinds_[k].time_price * row[k] + kinds_[k].memory_price * bytes_[i];
        if (cost >= least) continue;
        least = cost;
        cheapest = k;
      }
      sum += least;
      kinds_[cheapest].load_ms += row[cheapest];
      kinds_[cheapest].held += bytes_[i];
    }
    return sum;
  }

  void change_prices(double step, double scale_ms) {
    double load = 0, devices = 0, prices = 0;
    for (const Kind& kind : kinds_) {
      load += kind.load_ms;
      devices += kind.count;
    }
    for (Kind& kind : kinds_) {
      if (load > 0) {
        const double crowd = std::min(4.0, kind.load_ms / kind.count * devices / load);
        kind.time_price *= std::exp(step * (crowd - 1));
      }
      prices += kind.time_price * kind.count;
      if (kind.capacity == 0) continue;
      const double room = kind.capacity * kind.count;
      const double excess = std::min(4.0, kind.held / room - 1);
      kind.memory_price = std::max(0.0, kind.memory_price + step * excess * scale_ms / room);
    }
    for (Kind& kind : kinds_) kind.time_price /= prices;
  }

  const BoundContext& context_;
  const std::vector<OpId>& operators_;
  bool limited_;
  std::vector<Kind> kinds_;
  std::vector<double> table_;  // operator × kind; infinity where it cannot run
  std::vector<double> bytes_;  // by operator
};

/// The time at least in which devices can run these operators, each on any device that can run it,
/// with nothing but their work (and memory) in the way.
double lagrangian_ms(const BoundContext& context, const std::vector<OpId>& operators,
                     Memory memory) {
  if (operators.empty()) return 0;
  return LagrangianDual(context, operators, memory).run();
}

}  // namespace

double work_ms(const BoundContext& context, const std::vector<OpId>& operators) {
  return lagrangian_ms(context, operators, Memory::kIgnored);
}

double memory_ms(const BoundContext& context, const std::vector<OpId>& operators) {
  const auto devices = context.costs.platform().devices();
  const bool limited = std::any_of(devices.begin(), devices.end(),
                                   [](const Device& device) { return device.memory_bytes > 0; });
  return limited ? lagrangian_ms(context, operators, Memory::kLimited) : 0;
}

}  // namespace hios::scheduler
