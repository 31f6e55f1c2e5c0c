// Writes the seeds of fuzzers into FOLDER/FORMAT: the corpus, with good and bad files and edits.

#include <filesystem>
#include <iostream>

#include "fuzz/checks.h"
#include "hios/base/json/json_io.h"
#include "support/corpus.h"
#include "support/programs/temporary_folder.h"
#ifdef HIOS_HAVE_ONNX
#include "support/layers/onnx_seeds.h"
#endif

namespace {

/// Larger seeds slow a fuzzer down and add no coverage.
constexpr std::size_t kMaxSeedBytes = 20'000;

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: hios_write_seeds FOLDER\n";
    return 2;
  }
  namespace fs = std::filesystem;
  const fs::path folder = argv[1];
  const auto write = [&](const std::string& format, const std::string& name,
                         const std::string& content) {
    if (content.size() > kMaxSeedBytes) return;
    fs::create_directories(folder / format);
    hios::write_text(folder / format / name, content, hios::Existing::kReplace);
  };
  for (const hios::test::BadFile& bad : hios::test::bad_files())
    write(bad.kind, bad.name, bad.content);
  for (const hios::test::FuzzCheck& check : hios::test::fuzz_checks()) {
    const std::string format(check.name), good = format + "_ok.json";
    if (fs::exists(hios::test::corpus() / good))
      write(format, good, hios::test::content_of(hios::test::corpus() / good));
    for (const fs::path& found : hios::test::found_files(format))
      write(format, found.filename(), hios::test::content_of(found));
  }
  int number = 0;
#ifdef HIOS_HAVE_ONNX
  for (const std::string& seed : hios::test::onnx_seeds())
    write("onnx", "seed_" + std::to_string(number++), seed);
#endif
  for (const std::string& words : hios::test::word_seeds())
    write("words", "seed_" + std::to_string(number++), words);
}
