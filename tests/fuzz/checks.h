#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// Properties that hold for any bytes: they are refused in one line, or read, and the value can
/// then be written, read again and used. Each check is a fuzzing target (clang's libFuzzer, preset
/// `fuzz`), and the ordinary tests replay it over the corpus. The sources are named after the
/// checks (check_flight.cpp, check_graph.cpp, check_model.cpp, check_onnx.cpp, check_schedule.cpp,
/// check_words.cpp).
namespace hios::test {

/// A property that does not hold for some bytes.
class Broken : public std::logic_error {
  using std::logic_error::logic_error;
};

/// Throws Broken unless `holds`.
inline void promise(bool holds, const std::string& what) {
  if (!holds) throw Broken(what);
}

// Each check returns 0, as libFuzzer requires. It throws Broken if a property does not hold; any
// other exception is an error, too.

/// A graph, if it is small, is scheduled by every algorithm on two devices (judge_algorithms()).
int check_graph(std::string_view bytes);
/// A platform: links cost a finite time, and a graph is scheduled on it.
int check_platform(std::string_view bytes);
/// A model: it becomes a graph of operators.
int check_model(std::string_view bytes);
/// Fusion rules: they turn a model into a graph of operators.
int check_fusion(std::string_view bytes);
/// A profile: its costs of a model on two devices are finite.
int check_profile(std::string_view bytes);
/// A schedule of tests/corpus/graph_ok.json: validate() agrees with a second implementation, and
/// accepted schedules have the latency of a second simulator.
int check_schedule(std::string_view bytes);
/// A rank's flight record: it is explained, alone and together with another one of its job.
int check_flight(std::string_view bytes);
/// An ONNX file: it becomes a model with exactly the weights that its layers need.
int check_onnx(std::string_view bytes);
/// Values of flags: random networks, options of algorithms, arithmetics.
int check_words(std::string_view bytes);

struct FuzzCheck {
  std::string_view name;  ///< of the format: "graph"
  int (*check)(std::string_view bytes);
};
std::span<const FuzzCheck> fuzz_checks();

/// Returns inputs of check_words, good and bad: those of tests/corpus/flags.json, and others.
std::vector<std::string> word_seeds();

}  // namespace hios::test
