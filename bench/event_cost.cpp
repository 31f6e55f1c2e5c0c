// Prints the cost of recording one event in a rank's flight record: the median of a hundred blocks
// of a million events.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "hios/flight/recorder.h"

int main() {
  constexpr int kBlocks = 100, kEvents = 1'000'000;
  hios::flight::Recorder recorder;
  recorder.set_enabled(true);
  if (!recorder.enabled()) {
    std::fputs("error: the system gives no memory for a flight record\n", stderr);
    return 3;
  }
  const std::vector<hios::flight::Subject> subjects(64,
                                                    {.text = "waiting for conv_1", .op = "conv_1"});
  const hios::flight::Recorder::Subjects noted(&recorder, subjects);
  std::vector<double> ns;
  for (int block = 0; block < kBlocks; ++block) {
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < kEvents; ++i) {
      recorder.note(hios::flight::EventKind::kOperator, noted.at(i % subjects.size()), i);
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    ns.push_back(took.count() / kEvents);
  }
  std::sort(ns.begin(), ns.end());
  std::printf("%.2f ns an event (median of %d blocks; %.2f … %.2f)\n", ns[kBlocks / 2], kBlocks,
              ns.front(), ns.back());
}
