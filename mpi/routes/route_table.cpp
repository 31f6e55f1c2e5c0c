#include "mpi/routes/route_table.h"

#include <algorithm>
#include <utility>

namespace hios::mpi {
namespace {

std::string padded(std::string_view text, std::size_t width) {
  std::string cell(text);
  cell.resize(std::max(width, cell.size()), ' ');
  return cell;
}

/// Returns each reason with its pairs ("0-1, 1-0"), in the order of the first pair.
std::vector<std::pair<std::string, std::string>> reasons(const RouteTable& routes) {
  std::vector<std::pair<std::string, std::string>> lines;  // reason, pairs
  for (std::size_t pair = 0; pair < routes.why_not.size(); ++pair) {
    const std::string& why = routes.why_not[pair];
    if (why.empty()) continue;
    const std::string who =
        std::to_string(pair / routes.ranks) + "-" + std::to_string(pair % routes.ranks);
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

RouteTable RouteTable::uniform(std::size_t ranks, const Route& route) {
  RouteTable table;
  table.ranks = ranks;
  table.by_pair.assign(ranks * ranks, &route);
  table.why_not.resize(ranks * ranks);
  table.shared.resize(routes().size());
  return table;
}

void RouteTable::set(Rank a, Rank b, const Route& route, const std::string& why_not_better) {
  for (const std::size_t pair : {a.index() * ranks + b.index(), b.index() * ranks + a.index()}) {
    by_pair[pair] = &route;
    why_not[pair] = why_not_better;
  }
}

std::vector<const Route*> RouteTable::used() const {
  std::vector<const Route*> found;
  for (const Route& route : routes()) {
    for (std::size_t pair = 0; pair < by_pair.size(); ++pair) {
      if (by_pair[pair] != &route || pair / ranks == pair % ranks) continue;
      found.push_back(&route);
      break;
    }
  }
  return found;
}

std::string RouteTable::table(const std::vector<std::string>& links) const {
  constexpr std::size_t kFirst = 9;
  const std::size_t width = links.empty() ? 12 : 16;
  const auto cell = [&](std::size_t from, std::size_t to) {
    if (from == to) return std::string("-");
    std::string words(at(Rank(from), Rank(to)).name);
    if (!links.empty()) words += " " + links[from * ranks + to];
    return words;
  };
  std::string text = padded("from \\ to", kFirst);
  for (std::size_t to = 0; to < ranks; ++to) text += "  " + padded(std::to_string(to), width);
  const auto end_line = [&] {
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  };
  end_line();
  for (std::size_t from = 0; from < ranks; ++from) {
    text += padded(std::to_string(from), kFirst);
    for (std::size_t to = 0; to < ranks; ++to) {
      text += "  " + padded(cell(from, to), width);
    }
    end_line();
  }
  for (const auto& [why, pairs] : reasons(*this)) text += pairs + ": " + why + '\n';
  return text;
}

}  // namespace hios::mpi
