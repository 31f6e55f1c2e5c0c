#include "hios/platform/widest_paths.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "hios/base/numbers/random.h"
#include "support/expect_error.h"
#include "support/graphs/small_graph.h"

namespace hios {
namespace {

using test::d0;
using test::d1;
using test::d2;
using test::d3;

Platform platform(std::size_t count, std::vector<std::tuple<DeviceId, DeviceId, Link>> links,
                  std::optional<Link> default_link = {}) {
  std::vector<Device> devices;
  for (std::size_t d = 0; d < count; ++d) {
    Device device;
    device.name = std::string("d").append(std::to_string(d));
    device.kind = "gpu";
    devices.push_back(std::move(device));
  }
  return Platform(devices, std::move(links), default_link, {{}, Routing::kWidest});
}

// 100 MB over 10 MB/s and 5 MB/s takes 20 s (MOIRAI, section III-C).
TEST(WidestPaths, AreNoWiderThanTheirNarrowestLink) {
  const Platform line = platform(3, {{d0, d1, {1, 0.010}}, {d1, d2, {2, 0.005}}});
  const auto path = line.link(d0, d2);
  ASSERT_TRUE(path);
  EXPECT_EQ(*path, (Link{3, 0.005}));
  EXPECT_DOUBLE_EQ(path->transfer_ms(100'000'000), 20'003);
  EXPECT_EQ(line.link(d2, d0), path) << "links serve both directions";
}

TEST(WidestPaths, TakesTheWidestAlsoWhereAPairHasALink) {
  const Platform cycle = platform(3, {{d0, d1, {5, 8}}, {d1, d2, {5, 6}}, {d0, d2, {0, 1}}});
  EXPECT_EQ(cycle.link(d0, d2), (Link{10, 6}));
  EXPECT_EQ(cycle.link(d0, d1), (Link{5, 8}));
}

TEST(WidestPaths, BreakTiesByLatency) {
  // The path to the narrow last link need not be widest itself.
  const Platform two =
      platform(4, {{d0, d1, {9, 10}}, {d1, d2, {9, 10}}, {d0, d2, {1, 4}}, {d2, d3, {1, 4}}});
  EXPECT_EQ(two.link(d0, d2), (Link{18, 10}));
  EXPECT_EQ(two.link(d0, d3), (Link{2, 4}));
}

TEST(WidestPaths, TheDefaultLinkServesPairsWithoutAPath) {
  const Platform split = platform(4, {{d0, d1, {1, 2}}, {d2, d3, {1, 2}}}, Link{7, 1});
  EXPECT_EQ(split.link(d0, d1), (Link{1, 2}));
  EXPECT_EQ(split.link(d0, d2), (Link{7, 1}));
  EXPECT_EQ(platform(3, {{d0, d1, {1, 2}}}).link(d0, d2), std::nullopt);
}

TEST(WidestPaths, RefusesMoreDevicesThanItCanServe) {
  test::expect_error([] { platform(257, {}); }, {"up to 256 devices, not 257"});
}

/// The best of all paths that visit no device twice, enumerated.
class AllPaths {
 public:
  AllPaths(std::size_t devices, const std::vector<DirectedLink>& links)
      : links_(links), seen_(devices, false) {}

  std::optional<Link> best(DeviceId from, DeviceId to) {
    best_.reset();
    extend(from, to, {0, 1e300});
    return best_;
  }

 private:
  void extend(DeviceId at, DeviceId to, Link so_far) {
    if (at == to) {
      const bool better =
          !best_ || so_far.gb_per_s > best_->gb_per_s ||
          (so_far.gb_per_s == best_->gb_per_s && so_far.latency_ms < best_->latency_ms);
      if (better) best_ = so_far;
      return;
    }
    seen_[at.index()] = true;
    for (const DirectedLink& next : links_) {
      if (next.from != at || seen_[next.to.index()]) continue;
      extend(next.to, to,
             {so_far.latency_ms + next.link.latency_ms,
              std::min(so_far.gb_per_s, next.link.gb_per_s)});
    }
    seen_[at.index()] = false;
  }

  const std::vector<DirectedLink>& links_;
  std::vector<bool> seen_;
  std::optional<Link> best_;
};

TEST(WidestPaths, AreTheBestOfAllPaths) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "ways");
    const std::size_t count = 2 + random.below(5);
    std::vector<DirectedLink> links;
    for (std::size_t from = 0; from < count; ++from) {
      for (std::size_t to = 0; to < count; ++to) {
        if (from == to || random.below(2) == 0) continue;
        links.push_back(
            {DeviceId(from),
             DeviceId(to),
             {static_cast<double>(random.below(4)), static_cast<double>(1 + random.below(3))}});
      }
    }
    std::map<std::pair<DeviceId, DeviceId>, Link> paths;
    for (const DirectedLink& path : widest_paths(count, links)) {
      paths.emplace(std::pair(path.from, path.to), path.link);
    }
    AllPaths all(count, links);
    for (std::size_t from = 0; from < count; ++from) {
      for (std::size_t to = 0; to < count; ++to) {
        if (from == to) continue;
        const auto found = paths.find({DeviceId(from), DeviceId(to)});
        const auto best = all.best(DeviceId(from), DeviceId(to));
        ASSERT_EQ(found != paths.end(), best.has_value());
        if (best) {
          EXPECT_EQ(found->second, *best);
        }
      }
    }
  }
}

}  // namespace
}  // namespace hios
