#include "support/transports/transport_contract.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "hios/base/error.h"
#include "hios/base/numbers/random.h"
#include "mpi/session/agreement.h"
#include "support/transports/posted_messages.h"

namespace hios::test {
namespace {

using mpi::Channel;
using mpi::Transport;

template <class T>
void shuffle(std::vector<T>& values, Random& random) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.below(i)]);
}

std::vector<std::size_t> shuffled_indices(std::size_t count, Random& random) {
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  shuffle(order, random);
  return order;
}

void ranks_know_their_index(Transport& transport, FakeAccelerator*) {
  EXPECT_LT(transport.rank().index(), transport.size());
  EXPECT_LT(transport.local_rank(), transport.local_size());
  EXPECT_LE(transport.local_size(), transport.size());
  EXPECT_FALSE(transport.host().empty());
  const std::vector<std::string> ranks =
      transport.all_gather(std::to_string(transport.rank().index()));
  EXPECT_EQ(ranks.size(), transport.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) EXPECT_EQ(ranks[i], std::to_string(i));
}

void path_is_the_same_on_all_ranks(Transport& transport, FakeAccelerator*) {
  EXPECT_FALSE(transport.path().empty());
  for (const std::string& path : transport.all_gather(transport.path())) {
    EXPECT_EQ(path, transport.path());
  }
}

void gathers_texts_of_any_length(Transport& transport, FakeAccelerator*) {
  const auto text_of = [](std::size_t rank, std::size_t round) {
    const std::size_t length = round == 0 ? rank * 1000 : round == 1 ? 0 : (3u << 20) / (rank + 1);
    std::string text(length, static_cast<char>('a' + rank));
    if (!text.empty()) text[text.size() / 2] = '\0';  // bytes, not C strings
    return text;
  };
  for (std::size_t round = 0; round < 3; ++round) {
    const std::vector<std::string> texts =
        transport.all_gather(text_of(transport.rank().index(), round));
    EXPECT_EQ(texts.size(), transport.size());
    for (std::size_t rank = 0; rank < texts.size(); ++rank) {
      EXPECT_TRUE(texts[rank] == text_of(rank, round)) << "rank " << rank << ", round " << round;
    }
  }
}

void broadcasts_what_rank_0_says(Transport& transport, FakeAccelerator*) {
  const std::string own = "not from rank 0, " + std::to_string(transport.rank().index());
  const bool first = transport.rank() == Rank(0);
  EXPECT_EQ(transport.broadcast(first ? "hello" : own), "hello");
  EXPECT_EQ(transport.broadcast(first ? "" : own), "");
  const std::string large(2u << 20, 'x');
  EXPECT_TRUE(transport.broadcast(first ? large : own) == large);
}

void reduces_to_the_maximum(Transport& transport, FakeAccelerator*) {
  const double rank = static_cast<double>(transport.rank().index());
  const double last = static_cast<double>(transport.size() - 1);
  std::vector<double> values = {rank, -rank, 1e-300, -5 - rank, rank * 1e300};
  transport.all_reduce_max(values);
  EXPECT_EQ(values, (std::vector<double>{last, 0, 1e-300, -5, last * 1e300}));
  transport.all_reduce_max({});
}

void moves_messages_of_all_sizes(Transport& transport, FakeAccelerator* device) {
  const std::vector<Bytes> sizes = {0,     1,     7,      64,     4095,    4096,
                                    65535, 65537, 262144, 262145, 1 << 20, (4 << 20) + 3};
  PostedMessages exchange(transport, device, all_pairs(transport.size(), sizes));
  for (std::size_t iteration = 0; iteration < 3; ++iteration) {
    Random random(iteration * 64 + transport.rank().index());
    exchange.start_receives();
    for (const std::size_t post : shuffled_indices(exchange.size(), random)) {
      if (exchange.sends(post)) exchange.start_send(post, iteration);
    }
    for (const std::size_t post : shuffled_indices(exchange.size(), random)) {
      if (exchange.receives(post)) exchange.await_receive(post, iteration);
      if (exchange.sends(post)) exchange.await_send(post);
    }
    exchange.finish();
  }
}

/// Starts in one order, waits in the opposite order: nothing may depend on either.
void matches_by_tag_not_by_order(Transport& transport, FakeAccelerator* device) {
  const std::vector<Bytes> sizes(40, 24);
  PostedMessages exchange(transport, device, all_pairs(transport.size(), sizes));
  exchange.start_receives();
  for (std::size_t post = exchange.size(); post-- > 0;) {
    if (exchange.sends(post)) exchange.start_send(post, 0);
  }
  for (std::size_t post = 0; post < exchange.size(); ++post) {
    if (exchange.receives(post)) exchange.await_receive(post, 0);
  }
  exchange.finish();
}

void keeps_persistent_requests_for_many_iterations(Transport& transport, FakeAccelerator* device) {
  std::vector<Post> ring;
  for (std::size_t rank = 0; transport.size() > 1 && rank < transport.size(); ++rank) {
    ring.push_back({rank, (rank + 1) % transport.size(), 5, 3000});
    ring.push_back({rank, (rank + 1) % transport.size(), 6, 100000});
  }
  PostedMessages exchange(transport, device, ring);
  for (std::size_t iteration = 0; iteration < 150; ++iteration) {
    exchange.start_receives();
    for (std::size_t post = 0; post < ring.size(); ++post) {
      if (exchange.sends(post)) exchange.start_send(post, iteration);
      exchange.channel().poll();
    }
    for (std::size_t post = 0; post < ring.size(); ++post) {
      if (exchange.receives(post)) exchange.await_receive(post, iteration);
    }
    exchange.finish();
    exchange.finish();  // nothing left to do
  }
}

/// Acts like a plan: each rank goes through one global order of messages, starts its sends, awaits
/// its receives, sometimes awaits the end of a send, and polls in between.
void follows_random_schedules(Transport& transport, FakeAccelerator* device) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    std::vector<Post> posts;
    for (int tag = 0; transport.size() > 1 && tag < 30; ++tag) {
      const std::size_t from = random.below(transport.size());
      const std::size_t to = (from + 1 + random.below(transport.size() - 1)) % transport.size();
      const Bytes bound = random.below(4) == 0 ? 300000 : 3000;
      posts.push_back({from, to, tag, random.below(bound)});
    }
    PostedMessages exchange(transport, device, posts);
    Random own(seed * 64 + transport.rank().index());
    for (std::size_t iteration = 0; iteration < 3; ++iteration) {
      exchange.start_receives();
      for (std::size_t post = 0; post < posts.size(); ++post) {
        if (exchange.sends(post)) exchange.start_send(post, iteration);
        if (exchange.receives(post)) exchange.await_receive(post, iteration);
        if (own.below(3) == 0) exchange.channel().poll();
        const std::size_t earlier = own.below(post + 1);
        if (own.below(3) == 0 && exchange.sends(earlier)) exchange.await_send(earlier);
      }
      exchange.finish();
    }
  }
}

void lets_sends_start_before_receives_are_posted(Transport& transport, FakeAccelerator* device) {
  PostedMessages exchange(transport, device, all_pairs(transport.size(), {16, 1 << 20}));
  for (std::size_t post = 0; post < exchange.size(); ++post) {
    if (exchange.sends(post)) exchange.start_send(post, 0);
  }
  transport.barrier();
  exchange.start_receives();
  for (std::size_t post = 0; post < exchange.size(); ++post) {
    if (exchange.receives(post)) exchange.await_receive(post, 0);
  }
  exchange.finish();
}

void ends_sends_that_nobody_awaits_yet(Transport& transport, FakeAccelerator* device) {
  PostedMessages exchange(transport, device, all_pairs(transport.size(), {16, 2 << 20}));
  exchange.start_receives();
  for (std::size_t post = 0; post < exchange.size(); ++post) {
    if (exchange.sends(post)) exchange.start_send(post, 0);
  }
  for (std::size_t post = 0; post < exchange.size(); ++post) {
    if (exchange.sends(post)) exchange.await_send(post);
  }
  // Between devices the receiver takes part, so it must not leave its channel now.
  if (device == nullptr) transport.barrier();
  for (std::size_t post = 0; post < exchange.size(); ++post) {
    if (exchange.receives(post)) exchange.await_receive(post, 0);
  }
  exchange.finish();
}

void awaits_twice_without_harm(Transport& transport, FakeAccelerator* device) {
  PostedMessages exchange(transport, device, all_pairs(transport.size(), {100}));
  for (std::size_t post = 0; post < exchange.size(); ++post) {
    // Nothing was started: nothing to wait for.
    if (exchange.sends(post)) exchange.await_send(post);
  }
  exchange.start_receives();
  for (std::size_t post = 0; post < exchange.size(); ++post) {
    if (exchange.sends(post)) exchange.start_send(post, 0);
  }
  for (int time = 0; time < 2; ++time) {
    for (std::size_t post = 0; post < exchange.size(); ++post) {
      if (exchange.receives(post)) exchange.await_receive(post, 0);
      if (exchange.sends(post)) exchange.await_send(post);
    }
  }
  exchange.finish();
}

void serves_two_channels_at_once(Transport& transport, FakeAccelerator* device) {
  const std::vector<Post> posts = all_pairs(transport.size(), {50, 70000});
  std::vector<Post> others = posts;
  for (Post& post : others) post.tag += 1000;
  PostedMessages first(transport, device, posts);
  PostedMessages second(transport, device, others);
  first.start_receives();
  second.start_receives();
  for (std::size_t post = 0; post < posts.size(); ++post) {
    if (second.sends(post)) second.start_send(post, 1);
    if (first.sends(post)) first.start_send(post, 0);
  }
  transport.barrier();
  for (std::size_t post = 0; post < posts.size(); ++post) {
    if (first.receives(post)) first.await_receive(post, 0);
    if (second.receives(post)) second.await_receive(post, 1);
  }
  first.finish();
  second.finish();
}

void opens_channels_repeatedly(Transport& transport, FakeAccelerator* device) {
  for (std::size_t round = 0; round < 20; ++round) {
    PostedMessages exchange(transport, device, all_pairs(transport.size(), {8, 9000}));
    if (round % 2 == 0) continue;  // opened and never used
    exchange.start_receives();
    for (std::size_t post = 0; post < exchange.size(); ++post) {
      if (exchange.sends(post)) exchange.start_send(post, round);
    }
    for (std::size_t post = 0; post < exchange.size(); ++post) {
      if (exchange.receives(post)) exchange.await_receive(post, round);
    }
    exchange.finish();
  }
  const std::unique_ptr<Channel> empty = transport.open_channel({}, {});
  empty->start_receives();
  empty->poll();
  empty->finish();
}

/// Returns the text of the InputError that a step throws on this rank, or nothing.
template <class Step>
std::string message_of(const Step& step) {
  try {
    step();
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

void agrees_on_input(Transport& transport, FakeAccelerator*) {
  const auto agree = [&](const std::string& text) {
    return message_of([&] { mpi::agree_on_input(transport, text); });
  };
  EXPECT_EQ(agree(""), "");
  EXPECT_EQ(agree("no such file"), "no such file");
  const bool last = transport.rank().index() + 1 == transport.size();
  const std::string rank = "rank " + std::to_string(transport.size() - 1) + ": ";
  EXPECT_EQ(agree(last ? "disk full" : ""),
            transport.size() == 1 ? "disk full" : rank + "disk full");
  transport.barrier();  // the ranks are still together
}

void agrees_on_facts(Transport& transport, FakeAccelerator*) {
  const auto agree = [&](const std::string& seed) {
    return message_of([&] { mpi::agree_on_facts(transport, {{"model", "m"}, {"seed", seed}}); });
  };
  EXPECT_EQ(agree("3"), "");
  const std::string text = agree(transport.rank() == Rank(0) ? "3" : "4");
  if (transport.size() == 1) {
    EXPECT_EQ(text, "");
  } else {
    EXPECT_TRUE(text.starts_with("seed differs: rank 0 has 3, rank")) << text;
  }
  transport.barrier();
}

constexpr std::array kCases = {
    ContractCase{"RanksKnowTheirIndex", ranks_know_their_index},
    ContractCase{"PathIsTheSameOnAllRanks", path_is_the_same_on_all_ranks},
    ContractCase{"GathersTextsOfAnyLength", gathers_texts_of_any_length},
    ContractCase{"BroadcastsWhatRank0Says", broadcasts_what_rank_0_says},
    ContractCase{"ReducesToTheMaximum", reduces_to_the_maximum},
    ContractCase{"MovesMessagesOfAllSizes", moves_messages_of_all_sizes},
    ContractCase{"MatchesByTagNotByOrder", matches_by_tag_not_by_order},
    ContractCase{"KeepsPersistentRequestsForManyIterations",
                 keeps_persistent_requests_for_many_iterations},
    ContractCase{"FollowsRandomSchedules", follows_random_schedules},
    ContractCase{"LetsSendsStartBeforeReceivesArePosted",
                 lets_sends_start_before_receives_are_posted},
    ContractCase{"EndsSendsThatNobodyAwaitsYet", ends_sends_that_nobody_awaits_yet},
    ContractCase{"AwaitsTwiceWithoutHarm", awaits_twice_without_harm},
    ContractCase{"ServesTwoChannelsAtOnce", serves_two_channels_at_once},
    ContractCase{"OpensChannelsRepeatedly", opens_channels_repeatedly},
    ContractCase{"AgreesOnInput", agrees_on_input},
    ContractCase{"AgreesOnFacts", agrees_on_facts},
};

}  // namespace

std::span<const ContractCase> transport_contract() { return kCases; }

}  // namespace hios::test
