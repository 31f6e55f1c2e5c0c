#include "cli/run/inferences_flags.h"

#include <algorithm>
#include <array>
#include <string>

#include "hios/base/error.h"

namespace hios::cli {

namespace po = boost::program_options;

namespace {

constexpr std::array kAnyOfThese = {"inferences", "in-flight", "copies", "distinct-inputs"};
constexpr long long kInferences = 100;  // where --inferences is not given

}  // namespace

po::options_description inferences_flags() {
  po::options_description group("Many inferences in flight (any of these asks for it)", 100, 45);
  group.add_options()(
      "inferences", value("N"),
      "inferences to measure, at least (100); each rank starts the next as soon as its "
      "stages of one are done");
  group.add_options()(
      "in-flight", value("F"),
      "buffers of each tensor between ranks, taken in turn: the number of inferences "
      "that a rank may be ahead of another (the schedule's, else 2)");
  group.add_options()(
      "copies", value("R"),
      "copies of the schedule, each on ranks of its own, that take inferences in turn "
      "(1); without --schedule each rank is a copy");
  group.add_options()("distinct-inputs", value("N"),
                      "different inputs, taken in turn (one more than F x R)");
  return group;
}

std::optional<job::InferencesOptions> read_inferences(const Flags& flags) {
  if (std::ranges::none_of(kAnyOfThese, [&](const char* flag) { return flags.given(flag); })) {
    return {};
  }
  const auto count = [&](const char* flag, long long most) {
    return static_cast<std::size_t>(flags.optional_integer(flag, 1, most).value_or(0));
  };
  job::InferencesOptions options{count("in-flight", job::kMostInFlight), count("copies", 65536),
                                 count("distinct-inputs", 65536)};
  options.copies = std::max<std::size_t>(options.copies, 1);
  if (flags.written("iterations")) {
    throw InputError(
        "--iterations counts runs of one inference at a time: give --inferences, or leave it out");
  }
  if (flags.given("layers")) {
    throw InputError(
        "--layers is for one inference at a time: leave out --inferences and the other flags of "
        "many");
  }
  if (flags.optional_text("verify") == "operators") {
    throw InputError(
        "--verify=operators is for one inference at a time: take --verify, or leave out "
        "--inferences and the other flags of many");
  }
  return options;
}

void count_inferences(const Flags& flags, Protocol& protocol) {
  protocol.iterations =
      static_cast<int>(flags.optional_integer("inferences", 1, 100'000'000).value_or(kInferences));
}

}  // namespace hios::cli
