// Part of tests/fuzz/checks.h: flight records of ranks.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "fuzz/reading.h"
#include "hios/flight/explain.h"

namespace hios::test {
namespace {

Json flight_json(const flight::Flight& flight) { return to_json(flight); }

/// Explains the records: a line per rank with a record, one for the ranks without, one per wait,
/// and the conclusion.
void explain_or_refuse(std::vector<flight::Flight> flights) {
  const std::size_t most_lines = 2 * flights.size() + 3;
  try {
    const std::string text = flight::explain(std::move(flights));
    const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    promise(lines <= most_lines, "more lines than ranks, waits and conclusions: " + text);
  } catch (const InputError& error) {
    promise_a_line(error.what());
  }
}

}  // namespace

int check_flight(std::string_view bytes) {
  const auto flight = read_or_refuse(bytes, flight::parse_flight);
  if (!flight) return 0;
  promise_same_when_reread(*flight, flight::parse_flight, flight_json);
  explain_or_refuse({*flight});
  flight::Flight other = *flight;
  other.rank = flight->rank.value_or(0) + 1;
  other.ending = flight::Ending::kRunning;
  explain_or_refuse({*flight, other});
  return 0;
}

}  // namespace hios::test
