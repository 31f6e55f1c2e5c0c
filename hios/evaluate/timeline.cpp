#include "hios/evaluate/timeline.h"

#include <algorithm>

namespace hios {

void sort_transfers(std::vector<TransferTimes>& transfers) {
  std::sort(transfers.begin(), transfers.end(), [](const TransferTimes& a, const TransferTimes& b) {
    return std::tie(a.start_ms, a.producer, a.to) < std::tie(b.start_ms, b.producer, b.to);
  });
}

}  // namespace hios
