#include <algorithm>
#include <array>

#include "hios/base/error.h"
#include "mpi/device/device_transport.h"

// What paths are called, and how people are shown them.
namespace hios::mpi {
namespace {

struct Named {
  Route path;
  std::string_view name;
};
constexpr std::array kNames = {Named{Route::kHost, "host"}, Named{Route::kIpc, "ipc"},
                               Named{Route::kCudaAware, "cuda-aware"},
                               Named{Route::kStaged, "staged"}};

std::string padded(std::string_view text, std::size_t width) {
  std::string cell(text);
  cell.resize(std::max(width, cell.size()), ' ');
  return cell;
}

/// "0-1, 1-0": the pairs of each reason, in order of the first.
std::vector<std::pair<std::string, std::string>> reasons(const RouteTable& paths) {
  std::vector<std::pair<std::string, std::string>> lines;  // reason, pairs
  for (std::size_t pair = 0; pair < paths.why_not.size(); ++pair) {
    const std::string& why = paths.why_not[pair];
    if (why.empty()) continue;
    const std::string who =
        std::to_string(pair / paths.ranks) + "-" + std::to_string(pair % paths.ranks);
    const auto known = std::find_if(lines.begin(), lines.end(),
                                    [&](const auto& line) { return line.first == why; });
    if (known == lines.end()) {
      lines.emplace_back(why, who);
    } else {
      known->second += ", " + who;
    }
  }
  return lines;
}

}  // namespace

std::string_view name(Route path) {
  return std::find_if(kNames.begin(), kNames.end(),
                      [&](const Named& named) { return named.path == path; })
      ->name;
}

std::optional<Route> parse_route(std::string_view text) {
  if (text == "auto") return std::nullopt;
  for (const Named& named : kNames) {
    if (named.path != Route::kHost && named.name == text) return named.path;
  }
  throw InputError("no transport is called " + quote(text) +
                   "; there are auto, ipc, cuda-aware and staged");
}

std::string RouteTable::table() const {
  constexpr std::size_t kFirst = 9, kWidth = 12;
  std::string text = padded("from \\ to", kFirst);
  for (std::size_t to = 0; to < ranks; ++to) text += "  " + padded(std::to_string(to), kWidth);
  const auto end_line = [&] {
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  };
  end_line();
  for (std::size_t from = 0; from < ranks; ++from) {
    text += padded(std::to_string(from), kFirst);
    for (std::size_t to = 0; to < ranks; ++to) {
      text += "  " + padded(from == to ? "-" : name(at(Rank(from), Rank(to))), kWidth);
    }
    end_line();
  }
  for (const auto& [why, pairs] : reasons(*this)) text += pairs + ": " + why + '\n';
  return text;
}

}  // namespace hios::mpi
