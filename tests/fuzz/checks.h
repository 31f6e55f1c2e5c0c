#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// What must hold for any bytes at all: they are refused in one line, or read, and what was read
/// can be written, read again and used. Each is one fuzzing target (clang's libFuzzer, preset
/// `fuzz`), and is replayed over the corpus by the ordinary tests.
namespace hios::test {

/// A promise that bytes have broken.
class Broken : public std::logic_error {
  using std::logic_error::logic_error;
};

/// Throws Broken unless `holds`.
inline void promise(bool holds, const std::string& what) {
  if (!holds) throw Broken(what);
}

// Each throws Broken, or whatever else must not come; else returns 0, as libFuzzer wants it.

/// A graph, if it is small, is scheduled by every algorithm on two devices: valid, the latency that
/// a second simulator finds, no bound above it.
int check_graph(std::string_view bytes);
/// A platform: links cost a finite time, and a graph is scheduled on it.
int check_platform(std::string_view bytes);
/// A model: it becomes a graph of operators.
int check_model(std::string_view bytes);
/// Rules of fusion: a model becomes a graph of operators by them.
int check_fusion(std::string_view bytes);
/// A profile: it prices a model on two devices in finite times.
int check_profile(std::string_view bytes);
/// A schedule of tests/corpus/graph_ok.json: validate() says what a second opinion says, and what
/// it lets through has the latency that a second simulator finds.
int check_schedule(std::string_view bytes);
/// A rank's flight record: it is explained, alone and beside another of its job.
int check_flight(std::string_view bytes);
/// An ONNX file: it becomes a model with just the weights that its layers need.
int check_onnx(std::string_view bytes);
/// The small languages of flags: random networks, options of algorithms, arithmetics.
int check_words(std::string_view bytes);

struct FuzzCheck {
  std::string_view name;  ///< of the format: "graph"
  int (*check)(std::string_view bytes);
};
std::span<const FuzzCheck> fuzz_checks();

/// Inputs of check_words, good and bad: those of tests/corpus/flags.json, and some more.
std::vector<std::string> word_seeds();

}  // namespace hios::test
