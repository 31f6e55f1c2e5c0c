// Replays the fuzzing targets over the corpus and over inputs that fuzzing found. Any compiler
// builds it; new inputs are found by clang's fuzzer (bench/fuzz).

#include <gtest/gtest.h>

#include "fuzz/checks.h"
#include "support/corpus.h"
#include "support/programs/temporary_folder.h"
#ifdef HIOS_HAVE_ONNX
#include "support/layers/onnx_seeds.h"
#endif

namespace hios::test {

void PrintTo(const FuzzCheck& check, std::ostream* out) { *out << check.name; }

namespace {

class Fuzz : public testing::TestWithParam<FuzzCheck> {};

TEST_P(Fuzz, ReplaysCorpusAndFindings) {
  const std::string format(GetParam().name);
  std::size_t replayed = 0;
  const auto replay = [&](const std::string& name, const std::string& bytes) {
    SCOPED_TRACE(name);
    ++replayed;
    EXPECT_NO_THROW(GetParam().check(bytes));
  };
  for (const BadFile& bad : bad_files()) replay(bad.name, bad.content);  // of all formats
  for (const char* good :
       {"graph", "platform", "model", "fusion", "profile", "schedule", "flight", "run"}) {
    replay(good, content_of(corpus() / (std::string(good) + "_ok.json")));
  }
  for (const auto& found : found_files(format)) replay(found.filename(), content_of(found));
  if (format == "words") {
    for (const std::string& words : word_seeds()) replay(words, words);
  }
#ifdef HIOS_HAVE_ONNX
  if (format == "onnx") {
    for (const std::string& seed : onnx_seeds()) replay("a seed", seed);
  }
#endif
  EXPECT_GT(replayed, 500u);
}

INSTANTIATE_TEST_SUITE_P(Targets, Fuzz, testing::ValuesIn(fuzz_checks()),
                         [](const auto& check) { return std::string(check.param.name); });

/// A check fails if a promise is broken.
TEST(FuzzChecks, ThrowIfAPromiseIsBroken) {
  EXPECT_THROW(promise(false, "x"), Broken);
  EXPECT_NO_THROW(promise(true, "x"));
  EXPECT_GT(fuzz_checks().size(), 5u);
}

}  // namespace
}  // namespace hios::test
