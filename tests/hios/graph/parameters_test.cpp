#include "hios/graph/parameters.h"

#include <gtest/gtest.h>

#include "hios/base/numbers/random.h"
#include "support/message.h"

namespace hios {
namespace {

using test::message_of;

Operator op(const std::string& name, Bytes bytes, const std::string& label = "") {
  Operator made;
  made.name = name;
  made.parameter_bytes = bytes;
  made.parameters = label;
  return made;
}

TEST(ParameterSets, OperatorsWithOneLabelShareThem) {
  const Graph graph("g", {op("a", 8), op("b", 4, "w"), op("c", 0), op("d", 4, "w"), op("e", 8)},
                    {});
  const ParameterSets parameters(graph);
  ASSERT_EQ(parameters.sets().size(), 3U);
  EXPECT_EQ(parameters.sets()[0].name, "a");
  EXPECT_EQ(parameters.sets()[0].size_bytes, 8U);
  EXPECT_EQ(parameters.sets()[1].name, "w");
  EXPECT_EQ(parameters.sets()[1].size_bytes, 4U);
  EXPECT_EQ(parameters.sets()[1].operators, (std::vector<OpId>{OpId(1), OpId(3)}));
  EXPECT_EQ(parameters.sets()[2].operators, (std::vector<OpId>{OpId(4)}));
  EXPECT_EQ(parameters.of(OpId(0)), 0U);
  EXPECT_EQ(parameters.of(OpId(1)), 1U);
  EXPECT_EQ(parameters.of(OpId(2)), std::nullopt) << "it has none";
  EXPECT_EQ(parameters.of(OpId(3)), 1U);
  EXPECT_EQ(parameters.of(OpId(4)), 2U) << "as many bytes are not the same bytes";
}

TEST(ParameterSets, ALabelIsNoOperatorsName) {
  const ParameterSets parameters(Graph("g", {op("w", 4), op("b", 4, "w")}, {}));
  EXPECT_EQ(parameters.sets().size(), 2U);
}

TEST(ParameterSets, RefuseOneLabelWithTwoSizes) {
  const Graph graph("g", {op("a", 4, "w"), op("b", 4, "v"), op("c", 5, "w")}, {});
  EXPECT_EQ(message_of([&] { (void)ParameterSets(graph); }),
            "graph 'g': 'c' and 'a' have parameters 'w' of different sizes; give both the same "
            "parameter_bytes");
}

/// Every operator with parameters is in exactly the set that of() names, and sets are disjoint.
TEST(ParameterSets, DivideTheOperatorsWithParameters) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed, "parameter sets");
    std::vector<Operator> operators;
    for (std::size_t v = 0; v < 1 + random.below(30); ++v) {
      const std::uint64_t label = random.below(6);
      const std::string name = "v" + std::to_string(v);
      operators.push_back(label < 2 ? op(name, label * (1 + random.below(9)))
                                    : op(name, label, "w" + std::to_string(label)));
    }
    const Graph graph("g", std::move(operators), {});
    const ParameterSets parameters(graph);
    std::size_t members = 0, with_parameters = 0;
    for (std::size_t s = 0; s < parameters.sets().size(); ++s) {
      const ParameterSets::Set& set = parameters.sets()[s];
      ASSERT_FALSE(set.operators.empty());
      EXPECT_GT(set.size_bytes, 0U);
      members += set.operators.size();
      for (const OpId one : set.operators) {
        EXPECT_EQ(parameters.of(one), s);
        EXPECT_EQ(graph.op(one).parameter_bytes, set.size_bytes);
        EXPECT_EQ(graph.op(one).parameters, graph.op(set.operators.front()).parameters);
      }
    }
    for (const Operator& one : graph.operators()) with_parameters += one.parameter_bytes > 0;
    EXPECT_EQ(members, with_parameters);
  }
}

TEST(InPlace, ATimeIsByNameThenByKindThenForAll) {
  Device device;
  device.name = "gpu0";
  device.kind = "gpu";
  Operator one = op("a", 8);
  EXPECT_EQ(in_place_ms(one, device), std::nullopt);
  one.in_place_ms = 3;
  EXPECT_EQ(in_place_ms(one, device), 3);
  one.in_place_by_device = {{"cpu", 9}, {"gpu", 2}};
  EXPECT_EQ(in_place_ms(one, device), 2);
  one.in_place_by_device["gpu0"] = 1;
  EXPECT_EQ(in_place_ms(one, device), 1);
  one.in_place_ms.reset();
  device.name = device.kind = "tpu";
  EXPECT_EQ(in_place_ms(one, device), std::nullopt) << "no time there";
}

TEST(InPlace, ReadsAllParametersUnlessItSaysOtherwise) {
  Operator one = op("a", 8);
  EXPECT_EQ(in_place_bytes(one), 8U);
  one.in_place_bytes = 0;
  EXPECT_EQ(in_place_bytes(one), 0U);
}

}  // namespace
}  // namespace hios
