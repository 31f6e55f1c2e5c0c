#include "scheduler/bounds/lagrangian.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "scheduler/structures/numbers.h"

// M devices are busy for at most M times the latency, and every operator takes its work share of
// that: on equal devices, the latency is at least the sum of the shares over M. On different
// devices, an operator's time depends on the device. With limited memory, a device takes no more
// operators than it holds, so that other, perhaps slower devices must take the rest. (Memory limits
// for single operators are in graph/allowed_devices.cpp, for operators whose transfers are too
// expensive in colocation.cpp.)
//
// The constraints of time and memory are relaxed with a multiplier each. Let T be the latency,
// h_d(v) the work share and b(v) the bytes of v, B_d the memory of device d. For any multipliers
// y_d >= 0 of a device's time, with sum 1, and z_d >= 0 of its memory: v costs y_d·h_d(v) +
// z_d·b(v) on its device, so at least the minimum of that over the devices that can run it. All
// operators together cost at most Σ y_d·T + Σ z_d·B_d. Hence T >= Σ_v min_d (y_d·h_d(v) + z_d·b(v))
// − Σ z_d·B_d. (This is the dual of a linear program, so the best multipliers give the value of a
// fractional assignment.)
//
// Any multipliers give a bound. A few rounds raise them on crowded devices and lower them on
// others. Equal devices share their multipliers. The first round has equal time multipliers and no
// memory multipliers: on equal devices, this is all work shared evenly.

namespace hios::scheduler {
namespace {

/// Treatment of memory limits in the relaxation.
enum class Memory { kIgnored, kLimited };

/// Devices with equal times and memory.
struct DeviceClass {
  DeviceId device;
  double count = 1;
  double capacity = 0;  ///< bytes of one device; 0: no limit
  double time_multiplier = 0;
  double memory_multiplier = 0;  ///< per byte
  double load_ms = 0;            ///< sum over its devices, in the last round
  double held_bytes = 0;         ///< sum over its devices, in the last round
};

class LagrangianDual {
 public:
  LagrangianDual(const BoundContext& context, const std::vector<OpId>& operators, Memory memory)
      : context_(context), operators_(operators), limited_(memory == Memory::kLimited) {
    find_classes();
    fill_table();
  }

  double run() {
    constexpr std::size_t kRounds = 60, kEvaluations = 20'000'000;
    const std::size_t evaluations = std::max<std::size_t>(1, table_.size());
    const std::size_t rounds =
        classes_.size() == 1 && !any_limit()
            ? 1
            : std::clamp<std::size_t>(kEvaluations / evaluations, 5, kRounds);
    double best = 0;
    for (std::size_t round = 0; round < rounds; ++round) {
      const double value = round_ms();
      best = std::max(best, value);
      if (context_.stopped()) break;  // the value of every round is a bound
      update_multipliers(1 / (1 + 0.25 * static_cast<double>(round)), best);
    }
    return best;
  }

 private:
  double work_ms(OpId op, DeviceId device) const {
    const auto& able = context_.allowed.devices(op);
    if (!std::binary_search(able.begin(), able.end(), device)) return kInfinity;
    return context_.shares.work_ms(op, device);
  }

  double capacity(DeviceId device) const {
    if (!limited_) return 0;
    return static_cast<double>(context_.costs.platform().device(device).memory_bytes);
  }

  bool is_equal(const DeviceClass& device_class, DeviceId device) const {
    if (device_class.capacity != capacity(device)) return false;
    return std::all_of(operators_.begin(), operators_.end(), [&](OpId op) {
      return work_ms(op, device_class.device) == work_ms(op, device);
    });
  }

  void find_classes() {
    for (std::size_t d = 0; d < context_.costs.platform().size(); ++d) {
      const DeviceId device(d);
      const auto known = std::find_if(
          classes_.begin(), classes_.end(),
          [&](const DeviceClass& device_class) { return is_equal(device_class, device); });
      if (known != classes_.end()) {
        ++known->count;
      } else {
        DeviceClass device_class;
        device_class.device = device;
        device_class.capacity = capacity(device);
        classes_.push_back(device_class);
      }
    }
    const auto devices = static_cast<double>(context_.costs.platform().size());
    for (DeviceClass& device_class : classes_) device_class.time_multiplier = 1 / devices;
  }

  void fill_table() {
    for (OpId op : operators_) {
      for (const DeviceClass& device_class : classes_)
        table_.push_back(work_ms(op, device_class.device));
      const Operator& o = context_.graph.op(op);
      bytes_.push_back(static_cast<double>(o.memory_bytes) +
                       static_cast<double>(o.parameter_bytes));
    }
  }

  bool any_limit() const {
    return std::any_of(classes_.begin(), classes_.end(),
                       [](const DeviceClass& k) { return k.capacity > 0; });
  }

  /// Returns the bound for the current multipliers; records for each class the work and bytes
  /// assigned to it.
  double round_ms() {
    double sum = 0;
    for (DeviceClass& device_class : classes_) {
      device_class.load_ms = device_class.held_bytes = 0;
      sum -= device_class.memory_multiplier * device_class.capacity * device_class.count;
    }
    for (std::size_t i = 0; i < operators_.size(); ++i) {
      const std::span row = std::span(table_).subspan(i * classes_.size(), classes_.size());
      double least = kInfinity;
      std::size_t cheapest = 0;
      for (std::size_t k = 0; k < classes_.size(); ++k) {
        if (row[k] == kInfinity) continue;
        const double cost =
            classes_[k].time_multiplier * row[k] + classes_[k].memory_multiplier * bytes_[i];
        if (cost >= least) continue;
        least = cost;
        cheapest = k;
      }
      sum += least;
      classes_[cheapest].load_ms += row[cheapest];
      classes_[cheapest].held_bytes += bytes_[i];
    }
    return sum;
  }

  void update_multipliers(double step, double scale_ms) {
    double load = 0, devices = 0, multipliers = 0;
    for (const DeviceClass& device_class : classes_) {
      load += device_class.load_ms;
      devices += device_class.count;
    }
    for (DeviceClass& device_class : classes_) {
      if (load > 0) {
        const double crowd =
            std::min(4.0, device_class.load_ms / device_class.count * devices / load);
        device_class.time_multiplier *= std::exp(step * (crowd - 1));
      }
      multipliers += device_class.time_multiplier * device_class.count;
      if (device_class.capacity == 0) continue;
      const double room = device_class.capacity * device_class.count;
      const double excess = std::min(4.0, device_class.held_bytes / room - 1);
      device_class.memory_multiplier =
          std::max(0.0, device_class.memory_multiplier + step * excess * scale_ms / room);
    }
    for (DeviceClass& device_class : classes_) device_class.time_multiplier /= multipliers;
  }

  const BoundContext& context_;
  const std::vector<OpId>& operators_;
  bool limited_;
  std::vector<DeviceClass> classes_;
  std::vector<double> table_;  // operator × class; infinity if it cannot run there
  std::vector<double> bytes_;  // by operator
};

/// Returns a lower bound on the time in which the devices can run these operators, limited only by
/// their work (and memory).
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
