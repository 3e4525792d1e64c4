// SPDX-License-Identifier: Apache-2.0
// Studies on a database in a temporary folder: limits, determinism, failures, resuming, allocation.
#include <catch2/catch.hpp>

#include <cmath>
#include <map>
#include <set>

#include "config/toml.hpp"
#include "models/registry.hpp"
#include "search/workers/allocation.hpp"
#include "search/workers/plan.hpp"
#include "support/temporary_folder.hpp"

using namespace mase;
using namespace mase::search;

namespace {

using Folder = test::TemporaryFolder;

/// Parameters of five widths; no model is needed to choose them.
class Widths : public SearchSpace {
 public:
  explicit Widths(int layers = 12) {
    for (int i = 0; i < layers; ++i) {
      const std::string name = "layer" + std::to_string(i);
      layers_.push_back({name, {dimensions_.size()}});
      dimensions_.push_back(
          {name, samplers::CategoricalDistribution{{Tree(2), Tree(3), Tree(4), Tree(6), Tree(8)}},
           std::nullopt});
    }
  }
  std::vector<passes::PassCall> calls(const samplers::Params&) const override { return {}; }
  Tree sampled_config(const samplers::Params& params) const override {
    Tree tree = Tree::dict();
    for (const auto& [name, value] : params) tree[name] = value;
    return tree;
  }
};

/// Loss falls with a quarter per bit at a sensitivity of its own for each layer; bits are the mean.
Measured measure(const samplers::Params& params) {
  constexpr double bits[] = {2, 3, 4, 6, 8};
  double loss = 0, sum = 0;
  for (const auto& [name, value] : params) {
    const double sensitivity = 1.0 + std::stoi(name.substr(5));
    loss += sensitivity * std::pow(4.0, -bits[int(value)]);
    sum += bits[int(value)];
  }
  Measured measured;
  measured.software["loss"] = loss;
  measured.hardware["average_bitwidth"] = sum / 12;
  return measured;
}

Plan plan_in(const Folder& folder, const SearchSpace& space, int trials) {
  Plan plan;
  plan.options.goals = {{"average_bitwidth", 0.2, Direction::minimize},
                        {"loss", 1.0, Direction::minimize}};
  plan.options.runners.evaluation.emplace();
  plan.options.runners.bits.emplace();
  plan.options.setup.n_trials = trials;
  plan.options.setup.heartbeat = 0.1;
  plan.options.setup.deterministic = true;
  plan.options.setup.batch = 4;
  plan.space = &space;
  plan.seed = 7;
  plan.url = "sqlite:///" + folder.file("study.db");
  plan.study = "widths";
  plan.configuration["seed"] = 7;
  plan.evaluate = [](const samplers::Params& params, const Report&) { return measure(params); };
  return plan;
}

const std::atomic<bool> go_on{false};

std::vector<storage::Record> run(const Plan& plan, const std::atomic<bool>& stop = go_on) {
  run_workers(
      plan, [](const storage::Record&) {}, stop);
  const auto storage = storage::open_storage(plan.url);
  return storage->trials(open_study(*storage, plan));
}

using Values = std::vector<std::pair<samplers::Params, std::vector<double>>>;

Values values_of(const std::vector<storage::Record>& records) {
  Values out;
  for (const storage::Record& record : records)
    out.emplace_back(record.trial.params, record.trial.values);
  return out;
}

}  // namespace

TEST_CASE("a study has exactly the trials asked for, numbered from 0, however many workers") {
  for (const int jobs : {1, 3, 8}) {
    const Folder folder;
    const Widths space;
    Plan plan = plan_in(folder, space, 21);
    plan.options.setup.n_jobs = jobs;
    plan.options.setup.deterministic = GENERATE(true, false);
    const auto records = run(plan);
    REQUIRE(records.size() == 21);
    for (std::size_t i = 0; i < records.size(); ++i) {
      CHECK(records[i].trial.number == static_cast<std::int64_t>(i));
      CHECK(records[i].trial.state == samplers::TrialState::complete);
      CHECK(records[i].trial.values[0] ==
            0.2 * measure(records[i].trial.params).value("average_bitwidth"));
    }
  }
}

TEST_CASE("one seed gives the same trials and values for 1, 2 and 8 workers, for every sampler") {
  const std::string sampler = GENERATE("tpe", "nsgaii", "random", "qmc");
  Values first;
  for (const int jobs : {1, 2, 8}) {
    const Folder folder;
    const Widths space;
    Plan plan = plan_in(folder, space, 60);
    plan.options.setup.sampler = sampler;
    plan.options.setup.n_jobs = jobs;
    const Values values = values_of(run(plan));
    if (jobs == 1) first = values;
    CHECK(values == first);
  }
}

TEST_CASE("a configuration that was measured is asked for only when no other is left") {
  const Folder folder;
  const Widths space(1);
  for (const bool repeatable : {true, false})
    for (const bool deterministic : {true, false}) {
      Plan plan = plan_in(folder, space, 12);
      plan.study += std::to_string(repeatable) + std::to_string(deterministic);
      plan.options.setup.deterministic = deterministic;
      plan.options.constraints = {{"loss", true, 0.1, {}}};
      plan.repeatable = repeatable;
      std::map<double, int> calls;
      plan.evaluate = [&](const samplers::Params& params, const Report&) {
        ++calls[params.at("layer0")];
        return measure(params);
      };
      const auto records = run(plan);
      REQUIRE(records.size() == 12);
      CHECK(calls.size() == 5);
      std::size_t repeated = 0;
      for (const storage::Record& record : records) {
        const Tree* earlier = record.trial.attributes.find(storage::repeats_attribute);
        repeated += earlier != nullptr;
        if (!earlier) continue;
        const auto& first = records.at(static_cast<std::size_t>(earlier->as_int()));
        CHECK(first.trial.params == record.trial.params);
        CHECK(first.trial.values == record.trial.values);
        CHECK(first.trial.violation == record.trial.violation);
        CHECK(first.user == record.user);
      }
      std::size_t measured = 0;
      for (const auto& [width, count] : calls) measured += static_cast<std::size_t>(count);
      CHECK(measured + repeated == 12);
      if (!repeatable) CHECK(repeated == 0);
      // In deterministic mode the trials of one batch do not know of each other's results.
      if (repeatable) CHECK(measured <= (deterministic ? 5 + 3 : 5));
    }
}

TEST_CASE("a study that was stopped goes on and ends as if it never was") {
  const Folder whole, parts;
  const Widths space;
  const Values expected = values_of(run(plan_in(whole, space, 40)));
  Plan plan = plan_in(parts, space, 40);
  plan.options.setup.n_jobs = 2;
  std::atomic<bool> stop{false};
  std::atomic<int> count{0};
  plan.evaluate = [&](const samplers::Params& params, const Report&) {
    if (++count % 7 == 0) stop = true;
    return measure(params);
  };
  for (int round = 0; round < 5; ++round) {
    stop = false;
    run(plan, stop);
  }
  CHECK(values_of(run(plan)) == expected);
}

TEST_CASE("a changed configuration is refused with the difference") {
  const Folder folder;
  const Widths space;
  Plan plan = plan_in(folder, space, 2);
  run(plan);
  plan.configuration["seed"] = 8;
  plan.configuration["sampler"] = "random";
  try {
    run(plan);
    FAIL("was accepted");
  } catch (const Error& error) {
    CHECK(error.fault() == Fault::config);
    CHECK(std::string(error.what()).find("seed: 7 in the study, 8 now") != std::string::npos);
    CHECK(std::string(error.what()).find("sampler: null in the study, \"random\" now") !=
          std::string::npos);
  }
}

TEST_CASE("a study goes on with another sampler, whoever works on it") {
  Values first;
  for (const int jobs : {1, 3}) {
    const Folder folder;
    const Widths space;
    Plan plan = plan_in(folder, space, 14);
    plan.options.setup.sampler = "tpe";
    const Values before = values_of(run(plan));
    plan.options.setup.sampler = "random";
    plan.options.setup.n_trials = 26;
    plan.options.setup.n_jobs = jobs;
    const Values after = values_of(run(plan));
    REQUIRE(after.size() == 26);
    CHECK(std::equal(before.begin(), before.end(), after.begin()));
    if (jobs == 1) first = after;
    CHECK(after == first);
    // What chance alone gives under these numbers.
    const Folder other;
    Plan random = plan_in(other, space, 26);
    random.options.setup.sampler = "random";
    const Values by_chance = values_of(run(random));
    CHECK(std::equal(after.begin() + 14, after.end(), by_chance.begin() + 14));
    CHECK(after != by_chance);
    const auto storage = storage::open_storage(plan.url);
    const Tree turns = storage->find_study(plan.study)->system.at("mase:samplers");
    CHECK(
        to_json(turns, -1) ==
        R"([{"first":0,"sampler":"tpe","options":{}},{"first":14,"sampler":"random","options":{}}])");
  }
}

TEST_CASE("a sampler that takes over with a length of its own has all of its trials") {
  const Folder folder;
  const Widths space(2);
  Plan plan = plan_in(folder, space, 6);
  plan.repeatable = true;
  run(plan);
  plan.options.setup.sampler = "grid";
  plan.options.setup.n_trials = 25;  // the configurations of two layers
  const auto records = run(plan);
  CHECK(records.size() == 6 + 25);
  std::set<samplers::Params> seen;
  for (const storage::Record& record : records) seen.insert(record.trial.params);
  CHECK(seen.size() == 25);
  CHECK(run(plan).size() == 6 + 25);
  plan.options.setup.sampler = "tpe";
  plan.options.setup.n_trials = 33;
  CHECK(run(plan).size() == 33);
}

TEST_CASE("a study of an earlier version has its sampler in the configuration") {
  const Folder folder;
  const Widths space;
  Plan plan = plan_in(folder, space, 3);
  const auto storage = storage::open_storage(plan.url);
  Tree configuration = plan.configuration;
  configuration["sampler"] = "random";
  configuration["sampler_options"] = Tree::dict();
  storage->create_study(plan.study, plan.options.directions(), Tree::dict(),
                        Tree(Tree::Dict{{"mase:configuration", configuration}}));
  plan.options.setup.sampler = "random";
  CHECK(run(plan).size() == 3);
  CHECK(!storage->find_study(plan.study)->system.find("mase:samplers"));
  plan.options.setup.sampler = "tpe";
  plan.options.setup.n_trials = 5;
  CHECK(run(plan).size() == 5);
  CHECK(storage->find_study(plan.study)->system.at("mase:samplers").size() == 2);
  storage->set_system_attribute(*storage->find_study(plan.study), "mase:samplers", Tree("x"));
  CHECK_THROWS_AS(run(plan), Error);
}

TEST_CASE("a metric that is NaN and an error fail the trial with the reason kept") {
  const Folder folder;
  const Widths space;
  Plan plan = plan_in(folder, space, 3);
  std::atomic<int> count{0};
  plan.evaluate = [&](const samplers::Params& params, const Report&) {
    const int now = count++;
    if (now == 1) unsupported_error("no datapath");
    Measured measured = measure(params);
    if (now == 2) measured.software["loss"] = std::nan("");
    return measured;
  };
  const auto records = run(plan);
  REQUIRE(records.size() == 3);
  CHECK(records[0].trial.state == samplers::TrialState::complete);
  CHECK(records[1].trial.state == samplers::TrialState::fail);
  CHECK(records[1].trial.attributes.at("fail_reason") == Tree("no datapath"));
  CHECK(records[2].trial.attributes.at("fail_reason") == Tree("metric 'loss' is NaN"));
  CHECK(records[2].user.at("hardware_metrics").find("average_bitwidth") != nullptr);
}

TEST_CASE("ten equal failures in a row end a run in which nothing has succeeded") {
  const Folder folder;
  const Widths space;
  Plan plan = plan_in(folder, space, 40);
  plan.gives_up = true;
  plan.evaluate = [](const samplers::Params&, const Report&) -> Measured {
    unsupported_error("no datapath");
  };
  const auto run_through = [&] {
    return run_workers(
        plan, [](const storage::Record&) {}, go_on);
  };
  CHECK(run_through() == "no datapath");
  CHECK(run(plan).size() == 20);  // each run tries anew
  // After a success the others may fail as they like.
  plan.study = "one success";
  int calls = 0;
  plan.evaluate = [&](const samplers::Params& params, const Report&) {
    if (++calls > 1) unsupported_error("no datapath");
    return measure(params);
  };
  CHECK(run_through().empty());
  CHECK(calls == 40);
}

TEST_CASE("an internal error ends the run and is not told as a trial") {
  const Folder folder;
  const Widths space;
  Plan plan = plan_in(folder, space, 3);
  plan.evaluate = [](const samplers::Params&, const Report&) -> Measured {
    MASE_CHECK(false, "broken");
  };
  CHECK_THROWS_AS(run(plan), Error);
}

TEST_CASE("trials that violate a constraint are kept with the excess") {
  const Folder folder;
  const Widths space;
  Plan plan = plan_in(folder, space, 5);
  plan.options.constraints = {{"average_bitwidth", true, 4.0, {}}};
  for (const storage::Record& record : run(plan)) {
    const double bits = measure(record.trial.params).value("average_bitwidth");
    CHECK(record.trial.attributes.at("constraints").as_list().at(0).as_double() ==
          Approx((bits - 4.0) / 4.0));
    CHECK(record.trial.violation == Approx(std::max(0.0, (bits - 4.0) / 4.0)));
  }
}

TEST_CASE("the allocation of every budget is the best of all mixes") {
  // Losses add up here, so a greedy exchange argument does not matter: all 5^12 mixes are too many,
  // but per budget the best mix can be found by dynamic programming over the sum of bits.
  const Folder folder;
  const Widths space;
  const Plan plan = plan_in(folder, space, 12);
  const std::vector<Tree> sets = allocations(plan, 9, nullptr, go_on)->sets;
  REQUIRE(sets.size() >= 5);
  constexpr int bits[] = {2, 3, 4, 6, 8};
  std::map<int, double> best{{0, 0.0}};
  for (int layer = 0; layer < 12; ++layer) {
    std::map<int, double> next;
    for (const auto& [sum, loss] : best)
      for (const int b : bits) {
        const double value = loss + (1.0 + layer) * std::pow(4.0, -b);
        const auto [entry, fresh] = next.emplace(sum + b, value);
        if (!fresh) entry->second = std::min(entry->second, value);
      }
    best = std::move(next);
  }
  for (const Tree& set : sets) {
    samplers::Params params;
    for (const samplers::Dimension& dimension : space.dimensions())
      params[dimension.name] =
          *samplers::internal_value(dimension.distribution, set.at(dimension.name));
    const Measured measured = measure(params);
    const int sum = int(std::lround(12 * measured.value("average_bitwidth")));
    double least = measured.value("loss") + 1;
    for (const auto& [bits_sum, loss] : best)
      if (bits_sum <= sum) least = std::min(least, loss);
    CHECK(measured.value("loss") == Approx(least));
  }
}

namespace {

/// A plan whose first trials are `count` allocations.
void add_allocations(Plan& plan, std::size_t count) {
  plan.enqueue = [plan, count](const std::atomic<bool>& stop) -> std::optional<std::vector<Tree>> {
    auto found = allocations(plan, count, nullptr, stop);
    if (!found) return std::nullopt;
    return std::move(found->sets);
  };
}

Tree external_of(const SearchSpace& space, const samplers::Params& params) {
  Tree tree = Tree::dict();
  for (const samplers::Dimension& dimension : space.dimensions())
    tree[dimension.name] =
        samplers::external_value(dimension.distribution, params.at(dimension.name));
  return tree;
}

}  // namespace

TEST_CASE("allocations are tried first, once, and by themselves with the sampler allocate") {
  for (const bool alone : {false, true})
    for (const bool deterministic : {false, true})
      for (const int jobs : {1, 4}) {
        const Folder folder;
        const Widths space;
        Plan plan = plan_in(folder, space, 12);
        plan.options.setup.n_jobs = jobs;
        plan.options.setup.deterministic = deterministic;
        if (alone) plan.options.setup.sampler = "allocate";
        add_allocations(plan, 4);
        run(plan);
        if (!alone) plan.options.setup.n_trials = 20;
        const auto records = run(plan);
        REQUIRE(records.size() == (alone ? 4 : 20));
        const std::vector<Tree> sets = allocations(plan, 4, nullptr, go_on)->sets;
        REQUIRE(sets.size() == 4);
        std::vector<Tree> tried;
        for (const auto& record : records) tried.push_back(external_of(space, record.trial.params));
        // Workers that run at once number their trials before they take an allocation: one that is
        // slow may leave it to a later trial.
        if (jobs == 1 || deterministic) {
          CHECK(std::equal(sets.begin(), sets.end(), tried.begin()));
          tried.resize(sets.size());
        }
        for (const Tree& set : sets) CHECK(std::ranges::find(tried, set) != tried.end());
      }
}

TEST_CASE("measurements of an allocation are kept when it is stopped, and shared") {
  const Folder folder;
  const Widths space;
  Plan plan = plan_in(folder, space, 12);
  plan.options.setup.sampler = "allocate";
  std::atomic<int> count{0};
  std::atomic<bool> stop{false};
  plan.evaluate = [&](const samplers::Params& params, const Report&) {
    if (++count == 20) stop = true;
    return measure(params);
  };
  Plan first = plan;
  add_allocations(first, 4);
  CHECK(run(first, stop).empty());
  const int before = count;
  CHECK(before >= 20);
  CHECK(before < 61);
  Plan second = plan;
  second.options.setup.n_jobs = 3;
  add_allocations(second, 4);
  CHECK(run(second).size() == 4);
  // The model as it is, five choices of twelve layers, and four trials.
  CHECK(count == 1 + 60 + 4);
  CHECK(run(second).size() == 4);
  CHECK(count == 65);
}

TEST_CASE("a choice that cannot be measured is in no allocation") {
  const Folder folder;
  const Widths space;
  Plan plan = plan_in(folder, space, 12);
  plan.options.setup.sampler = "allocate";
  plan.evaluate = [](const samplers::Params& params, const Report&) {
    const auto found = params.find("layer3");
    if (found != params.end() && found->second == 0) unsupported_error("no datapath");
    return measure(params);
  };
  const auto found = allocations(plan, 6, nullptr, go_on);
  REQUIRE(found);
  CHECK(found->sets.size() > 2);
  for (const Tree& set : found->sets) CHECK(set.at("layer3") != Tree(2));
  CHECK(found->metric == "average_bitwidth");
  REQUIRE(found->sensitivity.size() == 60);
  const Tree& row = found->sensitivity.as_list().at(15);
  CHECK(row.at("layer") == Tree("layer3"));
  CHECK(row.at("parameters").at("layer3") == Tree(2));
  CHECK(std::isinf(row.at("loss").as_double()));
}

TEST_CASE("the median pruner stops a trial that falls behind") {
  const Folder folder;
  const Widths space;
  Plan plan = plan_in(folder, space, 9);
  plan.options.goals = {{"loss", 1.0, Direction::minimize}};
  plan.options.setup.pruner = "median";
  plan.options.setup.batch = 1;
  plan.options.pruner.n_startup_trials = 4;
  std::atomic<int> count{0};
  plan.evaluate = [&](const samplers::Params& params, const Report& report) {
    const int now = count++;
    for (int step = 1; step <= 3; ++step) report(step, now < 8 ? 1.0 : 5.0);
    return measure(params);
  };
  const auto records = run(plan);
  CHECK(records[7].trial.state == samplers::TrialState::complete);
  CHECK(records[8].trial.state == samplers::TrialState::pruned);
  CHECK(records[8].trial.values == std::vector<double>{5.0});
}
