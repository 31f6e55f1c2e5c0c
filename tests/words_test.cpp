// One concept, one word: sources and pages keep to the field's words (CONTRIBUTING.md, "Words"),
// and no comment begins as a fragment that leaves its noun out.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/tree.h"

namespace {

using hios::test::TreeFile;

/// All files of the repository but recorded results, and this one, which names what it looks for.
const std::vector<TreeFile>& pages() {
  static const std::vector<TreeFile> found = [] {
    std::vector<TreeFile> list;
    std::ranges::copy_if(hios::test::tree(), std::back_inserter(list), [](const TreeFile& file) {
      return file.name != "tests/words_test.cpp" && !file.name.starts_with("bench/results/");
    });
    return list;
  }();
  return found;
}

/// A word or a phrase that is right nowhere here, and what to say instead.
struct Wrong {
  std::string_view word, instead;
};

constexpr Wrong kWrong[] = {
    {"anew", "again, from scratch"},
    {"dear", "expensive"},
    {"dearer", "more expensive"},
    {"dearest", "most expensive"},
    {"needless", "dominated"},
    {"heeded", "considered, honoured"},
    {"lent", "borrowed"},
    {"complaint", "message, finding"},
    {"complaints", "messages, findings"},
    {"camps", "groups"},
    {"nests", "device subsets"},
    {"by chance", "randomly"},
    {"stand still", "are stalled, hang"},
    {"stands still", "is stalled, hangs"},
    {"of no interest", "pruned"},
    {"again and again", "repeatable, repeatedly"},
    {"begun schedule", "state, partial schedule"},
    {"begun schedules", "states, partial schedules"},
    {"hios_words", "hios_core"},
    {"hios::words", "hios::core"},
    {"out_of_time", "a Deadline"},
    {"past_half_time", "a Deadline"},
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Returns true if `word` stands in the line as a whole word.
bool says(std::string_view line, std::string_view word) {
  for (std::size_t at = line.find(word); at != std::string_view::npos;
       at = line.find(word, at + 1)) {
    const bool begins = at == 0 || !is_word(line[at - 1]);
    const std::size_t end = at + word.size();
    if (begins && (end == line.size() || !is_word(line[end]))) return true;
  }
  return false;
}

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

TEST(Words, OneConceptHasOneWord) {
  for (const TreeFile& page : pages()) {
    const std::vector<std::string_view> lines = page.lines();
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::string line = lower_case(std::string(lines[i]));
      for (const Wrong& wrong : kWrong) {
        EXPECT_FALSE(says(line, wrong.word))
            << page.name << ":" << i + 1 << " says \"" << wrong.word << "\": say " << wrong.instead;
      }
    }
  }
  EXPECT_GT(pages().size(), 700u) << "the test found few pages: has the tree moved?";
}

/// The text of a comment that begins in this line, without its slashes; `alone`: no code before it.
struct Comment {
  std::string_view text;
  bool alone = false;
};

std::optional<Comment> comment_of(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  std::size_t at = line.compare(first, 2, "//") == 0 ? first : line.find(" //");
  if (at == std::string_view::npos) return {};
  const bool alone = at == first;
  at = line.find_first_not_of(" /!<", at);
  return Comment{at == std::string_view::npos ? std::string_view() : line.substr(at), alone};
}

bool is_fragment(std::string_view text) {
  for (const std::string_view word : {"What", "Of", "Whether", "As", "So", "Else"}) {
    if (text.starts_with(word) && (text.size() == word.size() || !is_word(text[word.size()])))
      return true;
  }
  return false;
}

TEST(Words, NoCommentBeginsAsAFragment) {
  std::size_t seen = 0;
  for (const TreeFile& page : pages()) {
    if (!page.is_code()) continue;
    bool goes_on = false;  // the line before is a comment, whose sentence may end in this one
    const std::vector<std::string_view> lines = page.lines();
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::optional<Comment> comment = comment_of(lines[i]);
      const bool begins = comment && !(comment->alone && goes_on);
      EXPECT_FALSE(begins && is_fragment(comment->text))
          << page.name << ":" << i + 1 << " begins with no noun and no verb: " << lines[i];
      seen += begins;
      goes_on = comment && comment->alone;
    }
  }
  EXPECT_GT(seen, 2000u) << "the test found few comments: has the tree moved?";
}

}  // namespace
