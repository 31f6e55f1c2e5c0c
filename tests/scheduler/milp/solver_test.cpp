#include "scheduler/milp/solver.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "hios/base/numbers/random.h"
#include "support/oracles/solvers.h"
#include "support/sanitized.h"

namespace hios::scheduler::milp {
namespace {

/// Returns the least cost of a program of integer columns with small bounds, by brute force, or
/// infinity.
double least_cost(const Program& program) {
  std::vector<double> values;
  for (const Program::Column& column : program.columns) values.push_back(column.lower);
  double least = kInfinity;
  while (true) {
    if (violation(program, values) < 1e-9) least = std::min(least, cost(program, values));
    std::size_t c = 0;
    while (c < values.size() && ++values[c] > program.columns[c].upper) {
      values[c] = program.columns[c].lower;
      ++c;
    }
    if (c == values.size()) return least;
  }
}

Program random_program(Random& random) {
  Program program;
  const std::size_t columns = 2 + random.below(5);
  for (std::size_t c = 0; c < columns; ++c) {
    program.add({static_cast<double>(random.below(21)) - 10, 0,
                 1 + static_cast<double>(random.below(3)), true});
  }
  for (std::size_t rows = random.below(5); rows > 0; --rows) {
    Program::Row row;
    for (std::uint32_t c = 0; c < columns; ++c) {
      if (random.below(2) == 0) row.terms.push_back({c, static_cast<double>(random.below(9)) - 4});
    }
    const double side = static_cast<double>(random.below(9)) - 3;
    (random.below(2) == 0 ? row.lower : row.upper) = side;
    program.add(std::move(row));
  }
  return program;
}

TEST(Program, MeasuresViolations) {
  Program program;
  program.add({3, 0, 5, true});
  program.add({-1, 0, kInfinity, false});
  program.add({1, 2, {{0, 1}, {1, 2}}});
  EXPECT_EQ(program.terms, 2U);
  EXPECT_EQ(cost(program, {1, 0.5}), 2.5);
  EXPECT_EQ(violation(program, {1, 0.5}), 0);
  EXPECT_EQ(violation(program, {3, 1}), 3);
  EXPECT_EQ(violation(program, {0, 0}), 1);
  EXPECT_EQ(violation(program, {0.75, 0.5}), 0.25);
  EXPECT_EQ(violation(program, {1, -1}), 2);
}

class EverySolver : public ::testing::TestWithParam<std::string> {
 protected:
  Answer solve(const Program& program, const std::vector<double>& start = {},
               const Limits& limits = {}) {
    return find_solver(GetParam())->solve(program, start, limits);
  }
};

TEST_P(EverySolver, AgreesWithBruteForce) {
  for (std::uint64_t seed = 0; seed < test::tries(300u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "programs");
    const Program program = random_program(random);
    const double least = least_cost(program);
    Answer answer = solve(program);
    if (least == kInfinity) {
      EXPECT_EQ(answer.status, Status::kInfeasible);
      continue;
    }
    check_answer(answer, program, {});
    ASSERT_EQ(answer.status, Status::kOptimal) << answer.message;
    EXPECT_NEAR(answer.cost, least, 1e-6);
    EXPECT_NEAR(cost(program, answer.values), least, 1e-6);
    EXPECT_LE(answer.bound, least + 1e-6);
    EXPECT_GE(answer.bound, least - 1e-3);
  }
}

TEST_P(EverySolver, SolvesWithoutIntegers) {
  Program program;  // maximize 3a + 2b with a + b <= 4, a + 3b <= 6, a <= 3
  program.add({-3, 0, 3, true});
  program.add({-2, 0, kInfinity, true});
  program.add({-kInfinity, 4, {{0, 1}, {1, 1}}});
  program.add({-kInfinity, 5, {{0, 1}, {1, 3}}});
  const Answer answer = solve(relaxed(program));
  ASSERT_EQ(answer.status, Status::kOptimal);
  EXPECT_NEAR(answer.cost, -3 * 3 - 2 * 2.0 / 3, 1e-9);
  EXPECT_NEAR(answer.bound, answer.cost, 1e-5);
}

/// Returns a program whose proof takes long: a knapsack of many items of nearly equal worth.
Program hard_program() {
  Program program;
  Random random(1, "hard");
  Program::Row row{-kInfinity, 0, {}};
  for (std::uint32_t c = 0; c < 60; ++c) {
    const double weight = 10'000 + static_cast<double>(random.below(2'000));
    program.add({-weight, 0, 1, true});
    row.terms.push_back({c, weight});
    row.upper += weight / 2;
  }
  row.upper = std::floor(row.upper) + 0.5;
  Program::Row parity{0, 0, {{60, -2}}};
  for (std::uint32_t c = 0; c < 60; ++c) parity.terms.push_back({c, 1});
  program.add({0, 0, 100, true});
  program.add(std::move(row));
  program.add(std::move(parity));
  return program;
}

TEST_P(EverySolver, KeepsItsStartWhenTimeIsUp) {
  const Program program = hard_program();
  const std::vector<double> start(program.columns.size(), 0);
  Limits limits;
  limits.deadline = Deadline([] { return true; }, [] { return 0.0; }, 0);
  const Answer answer = solve(program, start, limits);
  EXPECT_TRUE(answer.status == Status::kFeasible || answer.status == Status::kUnknown ||
              answer.status == Status::kOptimal);
  if (!answer.values.empty()) {
    EXPECT_LT(violation(program, answer.values), 1e-6);
    EXPECT_LE(answer.bound, answer.cost + 1e-6);
  }
}

TEST_P(EverySolver, ANodeLimitIsDeterministic) {
  const Program program = hard_program();
  Limits limits;
  limits.nodes = 5;
  limits.relative_gap = 0;
  const Answer once = solve(program, {}, limits), again = solve(program, {}, limits);
  EXPECT_EQ(once.status, again.status);
  EXPECT_EQ(once.values, again.values);
  EXPECT_EQ(once.bound, again.bound);
}

INSTANTIATE_TEST_SUITE_P(Solvers, EverySolver, ::testing::ValuesIn(test::solver_names()),
                         [](const auto& one) { return one.param; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EverySolver);  // for builds without a solver

TEST(Solvers, AreFoundByName) {
  EXPECT_EQ(find_solver("simplex"), nullptr);
  if (solvers().empty()) {
    EXPECT_EQ(find_solver("any"), nullptr);
    return;
  }
  EXPECT_EQ(find_solver("any"), &solvers().front());
  for (const Solver& solver : solvers()) {
    EXPECT_EQ(find_solver(solver.name), &solver);
    EXPECT_FALSE(solver.version.empty());
  }
}

TEST(CheckAnswer, TurnsWrongAnswersIntoFailures) {
  Program program;  // minimize a >= 1
  program.add({1, 0, 10, true});
  program.add({1, kInfinity, {{0, 1}}});
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const auto judged = [&](Answer answer, const std::vector<double>& known) {
    check_answer(answer, program, known);
    return answer.status;
  };
  EXPECT_EQ(judged({Status::kOptimal, {1}, 1, 1}, {1}), Status::kOptimal);
  EXPECT_EQ(judged({Status::kFeasible, {3}, 3, -kInfinity}, {}), Status::kFeasible);
  EXPECT_EQ(judged({Status::kInfeasible, {}, kInfinity, kInfinity}, {}), Status::kInfeasible);
  EXPECT_EQ(judged({Status::kUnknown, {}, kInfinity, 0.5}, {2}), Status::kUnknown);
  EXPECT_EQ(judged({Status::kInfeasible, {}, kInfinity, -kInfinity}, {1}), Status::kFailed);
  EXPECT_EQ(judged({Status::kOptimal, {kNan}, kNan, 1}, {}), Status::kFailed);
  EXPECT_EQ(judged({Status::kFeasible, {1}, 1, kNan}, {}), Status::kFailed);
  EXPECT_EQ(judged({Status::kOptimal, {}, 1, 1}, {}), Status::kFailed);
  EXPECT_EQ(judged({Status::kOptimal, {1, 1}, 1, 1}, {}), Status::kFailed);
  EXPECT_EQ(judged({Status::kOptimal, {0}, 0, 0}, {}), Status::kFailed);
  EXPECT_EQ(judged({Status::kOptimal, {2}, 2, 2}, {1}), Status::kFailed);
  EXPECT_EQ(judged({Status::kFeasible, {2}, 2, 3}, {}), Status::kFailed);
}

}  // namespace
}  // namespace hios::scheduler::milp
