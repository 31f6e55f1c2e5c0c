// One concept, one word: sources and pages keep to the field's words (CONTRIBUTING.md, "Words"),
// also within identifiers, and neither a comment nor a test's name begins as a fragment that leaves
// its noun out.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <regex>
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

// Words are found in identifiers, too: "lent" in WasLent and was_lent.
constexpr Wrong kWrong[] = {
    {"anew", "again, from scratch"},
    {"afresh", "again, from scratch"},
    {"dear", "expensive"},
    {"dearer", "more expensive"},
    {"dearest", "most expensive"},
    {"needless", "dominated"},
    {"heed", "consider, honour"},
    {"heeds", "considers, honours"},
    {"heeded", "considered, honoured"},
    {"lend", "borrow"},
    {"lends", "borrows"},
    {"lent", "borrowed"},
    {"told", "given, reported"},
    {"begun", "started; of a search: state, partial schedule"},
    {"beside", "next to, compared with"},
    {"behind", "after"},
    {"circle", "cycle"},
    {"circles", "cycles"},
    {"knot", "cycle"},
    {"knots", "cycles"},
    {"complain", "report"},
    {"complains", "reports"},
    {"complaint", "message, finding"},
    {"complaints", "messages, findings"},
    {"trouble", "message, finding, warning"},
    {"troubles", "messages, findings, warnings"},
    {"camp", "group"},
    {"camps", "groups"},
    {"nests", "device subsets"},
    {"by chance", "randomly"},
    {"stand still", "are stalled, hang"},
    {"stands still", "is stalled, hangs"},
    {"of no interest", "pruned"},
    {"again and again", "repeatable, repeatedly"},
};

/// Names that are wrong as a whole, whose words may be right.
constexpr Wrong kWrongNames[] = {
    {"hios_words", "hios_core"},
    {"hios::words", "hios::core"},
    {"out_of_time", "a Deadline"},
    {"past_half_time", "a Deadline"},
};

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool is_lower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Returns true if a word of a name in camelCase begins at the letter: "F" in "aFile" and
/// "MPIFile".
bool begins_word(std::string_view line, std::size_t at) {
  if (at == 0 || !is_upper(line[at])) return false;
  return !is_upper(line[at - 1]) || (at + 1 < line.size() && is_lower(line[at + 1]));
}

/// Returns the line's words in lower case, with a space before and after each; those of names in
/// camelCase and snake_case one by one.
std::string words_in(std::string_view line) {
  std::string words = " ";
  for (std::size_t at = 0; at < line.size(); ++at) {
    const bool letter = is_letter(line[at]);
    if ((!letter || begins_word(line, at)) && words.back() != ' ') words += ' ';
    if (letter) words += static_cast<char>(std::tolower(static_cast<unsigned char>(line[at])));
  }
  if (words.back() != ' ') words += ' ';
  return words;
}

/// Returns true if the line has the name as a whole word.
bool has_name(std::string_view line, std::string_view name) {
  for (std::size_t at = line.find(name); at != std::string_view::npos;
       at = line.find(name, at + 1)) {
    const bool begins = at == 0 || !is_word(line[at - 1]);
    const std::size_t end = at + name.size();
    if (begins && (end == line.size() || !is_word(line[end]))) return true;
  }
  return false;
}

TEST(Words, AreFoundInNamesOfAnyStyle) {
  EXPECT_EQ(words_in("WasLent(was_lent, kMPIFile2x, \"a b\")"),
            " was lent was lent k mpi file x a b ");
  EXPECT_EQ(words_in(""), " ");
  EXPECT_TRUE(has_name("f(out_of_time)", "out_of_time"));
  EXPECT_FALSE(has_name("f(not_out_of_time)", "out_of_time"));
}

TEST(Words, OneConceptHasOneWord) {
  for (const TreeFile& page : pages()) {
    const std::vector<std::string_view> lines = page.lines();
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::string words = words_in(lines[i]);
      const auto expect = [&](bool right, const Wrong& wrong) {
        EXPECT_TRUE(right) << page.name << ":" << i + 1 << " has \"" << wrong.word << "\": write "
                           << wrong.instead;
      };
      for (const Wrong& wrong : kWrong) {
        expect(words.find(" " + std::string(wrong.word) + " ") == std::string::npos, wrong);
      }
      for (const Wrong& wrong : kWrongNames) expect(!has_name(lines[i], wrong.word), wrong);
    }
  }
  EXPECT_GT(pages().size(), 700u) << "the test found few pages: has the tree moved?";
}

/// A comment: its text without the signs before it; `alone`: no code before it in its line.
struct Comment {
  std::string_view text;
  bool alone = false;
};

/// Returns the comment in the line, which begins with `sign`: "//" or "#".
std::optional<Comment> comment_of(std::string_view line, std::string_view sign) {
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  std::size_t at = line.compare(first, sign.size(), sign) == 0
                       ? first
                       : line.find(" " + std::string(sign) + (sign == "#" ? " " : ""));
  if (at == std::string_view::npos) return {};
  const bool alone = at == first;
  at = line.find_first_not_of(" /#!<", at);
  return Comment{at == std::string_view::npos ? std::string_view() : line.substr(at), alone};
}

bool is_python(const TreeFile& page) { return page.name.ends_with(".py"); }

/// Returns the sign before comments of the page's language; none of prose.
std::optional<std::string_view> comment_sign(const TreeFile& page) {
  if (page.is_code()) return "//";
  for (const std::string_view end : {".py", ".sh", ".cmake", "CMakeLists.txt"}) {
    if (page.name.ends_with(end)) return "#";
  }
  return {};
}

constexpr std::string_view kFragments[] = {"What", "Of", "Whether", "As", "So", "Else"};

bool is_fragment(std::string_view text) {
  return std::ranges::any_of(kFragments, [&](std::string_view word) {
    return text.starts_with(word) && (text.size() == word.size() || !is_word(text[word.size()]));
  });
}

/// Expects that no comment of the page begins as a fragment. Returns the number of comments.
std::size_t check_comments(const TreeFile& page, std::string_view sign) {
  std::size_t seen = 0;
  bool goes_on = false;  // the line before is a comment, whose sentence may end in this one
  const std::vector<std::string_view> lines = page.lines();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::optional<Comment> comment = comment_of(lines[i], sign);
    const bool begins = comment && !(comment->alone && goes_on);
    EXPECT_FALSE(begins && is_fragment(comment->text))
        << page.name << ":" << i + 1 << " begins with no noun and no verb: " << lines[i];
    seen += begins;
    goes_on = comment && comment->alone;
  }
  return seen;
}

/// Expects that no docstring of the page begins as a fragment. Returns the number of docstrings.
std::size_t check_docstrings(const TreeFile& page) {
  static const std::regex docstring(R"re((?:^|\n) *"""\s*(\w+).*)re");
  std::size_t seen = 0;
  hios::test::for_each_match(page.text, docstring, [&](const std::smatch& match) {
    EXPECT_FALSE(is_fragment(match.str(1))) << page.name << " has a docstring that begins with no "
                                            << "noun and no verb: " << match.str();
    ++seen;
  });
  return seen;
}

TEST(Words, NoCommentBeginsAsAFragment) {
  std::size_t comments = 0, docstrings = 0;
  for (const TreeFile& page : pages()) {
    if (const auto sign = comment_sign(page)) comments += check_comments(page, *sign);
    if (is_python(page)) docstrings += check_docstrings(page);
  }
  EXPECT_GT(comments, 2000u) << "the test found few comments: has the tree moved?";
  EXPECT_GT(docstrings, 200u) << "the test found few docstrings: has the tree moved?";
}

TEST(Words, NoTestsNameBeginsAsAFragment) {
  static const std::regex in_code(R"((?:^|\n)TEST(?:_F|_P)?\(\w+,\s*(\w+)\))");
  static const std::regex in_python(R"(\n *def test_(\w+)\()");
  std::size_t seen = 0;
  for (const TreeFile& page : pages()) {
    if (!page.name.starts_with("tests/")) continue;
    const std::regex& pattern = is_python(page) ? in_python : in_code;
    hios::test::for_each_match(page.text, pattern, [&](const std::smatch& match) {
      const std::string words = words_in(match.str(1));  // " names no one "
      for (const std::string_view fragment : kFragments) {
        EXPECT_FALSE(words.starts_with(words_in(fragment)))
            << page.name << ": the name of the test " << match.str(1) << " has no subject";
      }
      ++seen;
    });
  }
  EXPECT_GT(seen, 1500u) << "the test found few tests: has the tree moved?";
}

}  // namespace
