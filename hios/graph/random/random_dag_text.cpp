#include "hios/graph/random/random_dag_text.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>
#include <sstream>

#include "hios/base/error.h"
#include "hios/base/nearest_name.h"
#include "hios/graph/random/families.h"

// Every key has a row in kKeys below; families.h says which families have it.
namespace hios {
namespace families {
namespace {

constexpr const char* kExample = "n=200,edges=400,layers=14,p=0.8,seed=3";

template <class Number>
void read_number(std::string_view key, std::string_view text, Number low, Number high,
                 Number& into) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
  // Written so that NaN is refused.
  const bool in_range = into >= low && into <= high;
  if (error == std::errc() && end == text.data() + text.size() && in_range) return;
  std::ostringstream range;
  range << low << " to " << high;
  throw InputError(key_words(key) + "'" + printable(text) + "' is no number from " + range.str());
}

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// Returns "a, b and c".
std::string enumerated(const std::vector<std::string_view>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " and " : ", ";
    text += words[i];
  }
  return text;
}

/// Reads one of two words; true: the second.
bool read_choice(std::string_view key, std::string_view text, std::string_view first,
                 std::string_view second) {
  if (text == first || text == second) return text == second;
  throw InputError(key_words(key) + quote(text) + " is neither " + std::string(first) + " nor " +
                   std::string(second));
}

RandomDag::Family read_family(std::string_view text) {
  std::vector<std::string_view> names;
  for (const Row& row : table()) {
    if (row.name == text) return row.family;
    names.push_back(row.name);
  }
  throw InputError(key_words("family") + quote(text) + " is unknown; known are " +
                   enumerated(names) + did_you_mean(text, names));
}

/// Reads "1x4:0.25": each item as often as its number says, or once.
std::vector<double> read_speeds(std::string_view text) {
  std::vector<double> speeds;
  for (const std::string_view item : parts_of(text, ':')) {
    const std::size_t times = item.find('x');
    double speed = 1;
    std::size_t count = 1;
    read_number("speeds", item.substr(0, times), kMinSpeed, kMaxSpeed, speed);
    if (times != std::string_view::npos) {
      read_number<std::size_t>("speeds", item.substr(times + 1), 1, kMaxDevices, count);
    }
    if (speeds.size() + count > kMaxDevices) {
      throw InputError(key_words("speeds") + "are of more than " + std::to_string(kMaxDevices) +
                       " devices; give fewer");
    }
    speeds.insert(speeds.end(), count, speed);
  }
  return speeds;
}

/// Reads "er0.2", "ws4-0.75" or "ba5".
void read_wiring(std::string_view key, std::string_view text, RandomModules& into) {
  const std::string_view kind = text.substr(0, 2);
  const std::string_view rest = text.substr(kind.size());
  const std::size_t dash = rest.find('-');
  if (kind == "er") {
    into.wiring = RandomModules::Wiring::kErdosRenyi;
    read_number<double>(key, rest, 0, 1, into.p);
  } else if (kind == "ws" && dash != std::string_view::npos) {
    into.wiring = RandomModules::Wiring::kWattsStrogatz;
    read_number<std::size_t>(key, rest.substr(0, dash), 2, kMaxOperators, into.k);
    read_number<double>(key, rest.substr(dash + 1), 0, 1, into.p);
  } else if (kind == "ba") {
    into.wiring = RandomModules::Wiring::kBarabasiAlbert;
    read_number<std::size_t>(key, rest, 1, kMaxOperators, into.k);
  } else {
    throw InputError(key_words(key) + quote(text) + " is not as er0.2, ws4-0.75 or ba5");
  }
}

/// Reads "0-4000000": the limits of the bytes of an operator's parameters.
std::pair<Bytes, Bytes> read_parameter_bytes(std::string_view key, std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) {
    throw InputError(key_words(key) + quote(text) + " is not as 0-4000000, in bytes");
  }
  std::pair<Bytes, Bytes> limits;
  read_number<Bytes>(key, text.substr(0, dash), 0, kMaxParameterBytes, limits.first);
  read_number<Bytes>(key, text.substr(dash + 1), limits.first, kMaxParameterBytes, limits.second);
  return limits;
}

RandomDag::Base read_base(std::string_view text) {
  using Base = RandomDag::Base;
  constexpr std::pair<std::string_view, Base> kBases[] = {{"er", Base::kErdosRenyi},
                                                          {"ba", Base::kBarabasiAlbert},
                                                          {"ws", Base::kWattsStrogatz},
                                                          {"sbm", Base::kBlocks}};
  for (const auto& [name, base] : kBases) {
    if (name == text) return base;
  }
  throw InputError(key_words("base") + quote(text) + " is none of er, ba, ws and sbm");
}

template <std::size_t RandomDag::*kField>
void read_count(std::string_view key, std::string_view text, RandomDag& into) {
  read_number<std::size_t>(key, text, 1, kMaxOperators, into.*kField);
}

struct Key {
  std::string_view name;
  void (*read)(std::string_view key, std::string_view text, RandomDag& into);
};

using Text = std::string_view;

const Key kKeys[] = {
    {"n", read_count<&RandomDag::operators>},
    {"edges",
     [](Text key, Text text, RandomDag& into) {
       read_number<std::size_t>(key, text, 0, kMaxEdges, into.edges.emplace());
     }},
    {"layers", read_count<&RandomDag::layers>},
    {"p", [](Text key, Text text,
             RandomDag& into) { read_number<double>(key, text, 0, kMaxRatio, into.p); }},
    {"seed",
     [](Text key, Text text, RandomDag& into) {
       read_number<std::uint64_t>(key, text, 0, std::numeric_limits<std::uint64_t>::max(),
                                  into.seed);
     }},
    {"transfer",
     [](Text key, Text text, RandomDag& into) {
       into.transfer = read_choice(key, text, "producer", "consumer")
                           ? RandomDag::Transfer::kConsumer
                           : RandomDag::Transfer::kProducer;
     }},
    {"family", [](Text, Text text, RandomDag& into) { into.family = read_family(text); }},
    {"base", [](Text, Text text, RandomDag& into) { into.base = read_base(text); }},
    {"heads", read_count<&RandomDag::heads>},
    {"hidden", read_count<&RandomDag::hidden>},
    {"length", read_count<&RandomDag::length>},
    {"width", read_count<&RandomDag::width>},
    {"direction",
     [](Text key, Text text, RandomDag& into) {
       into.direction = read_choice(key, text, "out", "in") ? RandomDag::Direction::kIn
                                                            : RandomDag::Direction::kOut;
     }},
    {"density", [](Text key, Text text,
                   RandomDag& into) { read_number<double>(key, text, 0, 1, into.density); }},
    {"modules",
     [](Text key, Text text, RandomDag& into) {
       read_number<std::size_t>(key, text, 1, kMaxOperators, into.modules.count);
     }},
    {"nodes",
     [](Text key, Text text, RandomDag& into) {
       read_number<std::size_t>(key, text, 1, kMaxOperators, into.modules.nodes);
     }},
    {"wiring", [](Text key, Text text, RandomDag& into) { read_wiring(key, text, into.modules); }},
    {"channels",
     [](Text key, Text text, RandomDag& into) {
       read_number<std::size_t>(key, text, 1, kMaxOperators, into.modules.channels);
     }},
    {"ends",
     [](Text key, Text text, RandomDag& into) {
       into.modules.ends = read_choice(key, text, "strong", "weak") ? RandomModules::Ends::kWeak
                                                                    : RandomModules::Ends::kStrong;
     }},
    {"speeds", [](Text, Text text, RandomDag& into) { into.devices.speeds = read_speeds(text); }},
    {"spread",
     [](Text key, Text text, RandomDag& into) {
       read_number<double>(key, text, 0, kMaxSpread, into.devices.spread);
     }},
    {"memory",
     [](Text key, Text text, RandomDag& into) {
       read_number<double>(key, text, kMinMemory, kMaxMemory, into.devices.memory.emplace());
     }},
    {"allowed",
     [](Text key, Text text, RandomDag& into) {
       read_number<double>(key, text, 0, 1, into.devices.allowed);
     }},
    {"colocate",
     [](Text key, Text text, RandomDag& into) {
       read_number<double>(key, text, 0, 1, into.devices.colocate);
     }},
    {"parameters",
     [](Text key, Text text, RandomDag& into) {
       into.parameters.bytes = read_parameter_bytes(key, text);
     }},
    {"in-place",
     [](Text key, Text text, RandomDag& into) {
       read_number<double>(key, text, 0, 1, into.parameters.in_place);
     }},
};

void read_key(std::string_view key, std::string_view text, RandomDag& into) {
  std::vector<std::string_view> names;
  for (const Key& known : kKeys) {
    if (known.name == key) return known.read(key, text, into);
    names.push_back(known.name);
  }
  throw InputError("random network: '" + printable(key) + "' is unknown; known are " +
                   enumerated(names) + ", as in " + kExample + did_you_mean(key, names));
}

bool has(const Row& row, std::string_view key) {
  return std::find(row.keys.begin(), row.keys.end(), key) != row.keys.end();
}

/// Throws where another family has the key and this one does not.
void check_key(std::string_view key, const Row& row) {
  if (has(row, key)) return;
  for (const Row& other : table()) {
    if (!has(other, key)) continue;
    throw InputError(key_words(key) + "family " + std::string(row.name) +
                     " has none; leave it out");
  }
}

/// Sets the default sizes of networks by formula.
void set_defaults(const Row& row, const std::set<std::string_view>& given, RandomDag& into) {
  const bool lstm = row.family == RandomDag::Family::kLstm;
  if (!lstm && row.family != RandomDag::Family::kBert) return;
  if (!given.contains("layers")) into.layers = lstm ? 4 : 12;
  if (!given.contains("hidden")) into.hidden = lstm ? 1024 : 768;
  if (!given.contains("length")) into.length = lstm ? 32 : 128;
}

}  // namespace

void check(const RandomDag& parameters) {
  // Where other keys decide the number of operators, these are checked.
  const bool counted = row_of(parameters.family).count == nullptr;
  if (counted && (parameters.operators < 1 || parameters.operators > kMaxOperators)) {
    throw InputError(key_words("n") + "must be 1 to " + std::to_string(kMaxOperators));
  }
  if (!(parameters.p >= 0 && parameters.p <= kMaxRatio)) {
    throw InputError(key_words("p") + "must be 0 to 1e6");
  }
  row_of(parameters.family).check(parameters);
}

}  // namespace families

RandomDag parse_random_dag(std::string_view text) {
  using namespace families;
  RandomDag parameters;
  std::set<std::string_view> given;
  if (text.empty()) return parameters;
  for (const std::string_view item : parts_of(text, ',')) {
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) {
      throw InputError("random network: '" + printable(item) + "' must be key=value, as in " +
                       kExample);
    }
    std::string_view key = item.substr(0, equals);
    if (key == "kind") key = "family";
    if (!given.insert(key).second) throw InputError(key_words(key) + "given twice; remove one");
    read_key(key, item.substr(equals + 1), parameters);
  }
  if (given.contains("modules") && !given.contains("family")) {
    parameters.family = RandomDag::Family::kModules;
  }
  for (const std::string_view key : given) check_key(key, row_of(parameters.family));
  const Row& row = row_of(parameters.family);
  set_defaults(row, given, parameters);
  if (row.count != nullptr) {
    if (given.contains("n")) {
      throw InputError(key_words("n") + "family " + std::string(row.name) + " has " +
                       std::string(row.counted) + "; leave it out");
    }
    parameters.operators = row.count(parameters);
  }
  const auto fit = [&](std::string_view key, std::size_t& value) {
    if (!given.contains(key)) value = std::min(value, parameters.operators);
  };
  if (row.count == nullptr && has(row, "layers")) fit("layers", parameters.layers);
  fit("width", parameters.width);
  check(parameters);
  return parameters;
}

}  // namespace hios
