// Part of tests/fuzz/checks.h: what a rank did last.

#include <algorithm>
#include <utility>
#include <vector>

#include "fuzz/reading.h"
#include "hios/flight/explain.h"

namespace hios::test {
namespace {

Json flight_json(const flight::Flight& flight) { return to_json(flight); }

/// One line a rank with a record, one for those without, one a wait, the conclusion.
void explain_or_refuse(std::vector<flight::Flight> flights) {
  const std::size_t most_lines = 2 * flights.size() + 3;
  try {
    const std::string text = flight::explain(std::move(flights));
    const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    promise(lines <= most_lines, "more lines than there are things to say: " + text);
  } catch (const InputError& error) {
    promise_a_line(error.what());
  }
}

}  // namespace

int check_flight(std::string_view bytes) {
  const auto flight = read_or_refuse(bytes, flight::parse_flight);
  if (!flight) return 0;
  promise_to_come_back(*flight, flight::parse_flight, flight_json);
  explain_or_refuse({*flight});
  flight::Flight other = *flight;
  other.rank = flight->rank.value_or(0) + 1;
  other.ending = flight::Ending::kRunning;
  explain_or_refuse({*flight, other});
  return 0;
}

}  // namespace hios::test
