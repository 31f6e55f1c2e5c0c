// Names of cuDNN's engines, and the arithmetic that they may have.
#include "engine/cuda/operators/graph/engine_choice.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace hios {
namespace {

using cuda::graph::choice_named;
using cuda::graph::EngineChoice;
using cuda::graph::EngineNotes;
using cuda::graph::fits;

TEST(EngineChoice, GoesIntoANameAndBack) {
  for (const EngineChoice& choice :
       {EngineChoice{0, {}}, EngineChoice{37, {{2, 1}, {13, 0}}}, EngineChoice{1, {}, false},
        EngineChoice{2, {{3, 4}}, false}, EngineChoice{2, {{3, 4}}, true, true},
        EngineChoice{5'000'000'000, {{0, -1}, {1, 9'000'000'000}, {44, 7}}}}) {
    EXPECT_EQ(choice_named(choice.name()), choice);
  }
  EXPECT_EQ((EngineChoice{37, {{2, 1}, {13, 0}}}.name()), "graph 37 2=1,13=0");
  EXPECT_EQ((EngineChoice{4, {}}.name()), "graph 4");
  EXPECT_EQ((EngineChoice{4, {}, false}.name()), "graph 4 plain");
  EXPECT_EQ((EngineChoice{4, {}, true, true}.name()), "graph 4 added");
}

TEST(EngineChoice, RefusesOtherNames) {
  for (const char* const name : {"graph",
                                 "graph plain",
                                 "graph 1 plain 2=1",
                                 "graph 1 fused",
                                 "graph 1 plain added",
                                 "graph added 1",
                                 "graph x",
                                 "graph -1",
                                 "graph 1 2",
                                 "graph 1 2=",
                                 "graph 1 =2",
                                 "graph 1 2=1,",
                                 "graph 1 ,2=1",
                                 "graph 1 2=1 3=1",
                                 "graph 1 -2=1",
                                 "graph 1 3=1,2=1",
                                 "graph 1 2=1,2=3",
                                 "graph 1 2=1;3=1",
                                 "graph 99999999999999999999",
                                 "graph 1 2=99999999999999999999"}) {
    SCOPED_TRACE(name);
    test::expect_error<RunError>([&] { choice_named(name); }, {name});
  }
}

TEST(EngineNotes, SayWhichArithmeticItIs) {
  const auto with = [](bool EngineNotes::*note) {
    EngineNotes notes;
    notes.*note = true;
    return notes;
  };
  const auto fp32 = Precision::kFp32, tf32 = Precision::kTf32, fp16 = Precision::kFp16;
  for (const Precision precision : {fp32, tf32, fp16}) {
    EXPECT_TRUE(fits({}, precision));
    EXPECT_TRUE(fits(with(&EngineNotes::nondeterministic), precision)) << "another question";
    EXPECT_FALSE(fits(with(&EngineNotes::narrower_sums), precision));
  }
  EXPECT_FALSE(fits(with(&EngineNotes::tensor_cores), fp32)) << "they round to tf32";
  EXPECT_TRUE(fits(with(&EngineNotes::tensor_cores), tf32));
  EXPECT_TRUE(fits(with(&EngineNotes::tensor_cores), fp16));
  EXPECT_FALSE(fits(with(&EngineNotes::narrower_inputs), fp32));
  EXPECT_TRUE(fits(with(&EngineNotes::narrower_inputs), tf32));
  EXPECT_FALSE(fits(with(&EngineNotes::narrower_inputs), fp16));
  EXPECT_TRUE(fits(with(&EngineNotes::transforms), fp32));
  EXPECT_FALSE(fits(with(&EngineNotes::transforms), fp16)) << "halves would be rounded twice";
}

}  // namespace
}  // namespace hios
