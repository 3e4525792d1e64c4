// SPDX-License-Identifier: Apache-2.0
// Runners: every one is explained and delivers its metrics; a trial's own training settings.
#include <catch2/catch.hpp>

#include <cmath>
#include <set>

#include "config/toml.hpp"
#include "search/runners/measure.hpp"

using namespace mase;
using namespace mase::search;

namespace {

/// Gives its inputs back: [n, 2] logits, turned around where formats count.
class Echo : public ir::Evaluator {
 public:
  explicit Echo(ir::Level level) : sign_(level == ir::Level::floating ? 1.0F : -1.0F) {}
  ir::Results run(const std::vector<Array>& inputs) override {
    Array out = inputs.front();
    for (float& value : out.mutable_span<float>()) value *= sign_;
    return {{"", out}};
  }
  ir::Results run(const std::vector<Array>& inputs, const ir::Observer&) override {
    return run(inputs);
  }

 private:
  float sign_;
};

/// Four rows of two classes, all for validation, of which the float model gets three right.
data::Dataset four_rows() {
  data::Dataset dataset;
  dataset.inputs = {{"x", Array::from(std::vector<float>{1, 0, 0, 1, 1, 0, 0, 1}, {4, 2})}};
  dataset.targets = {
      {"y", "classification", Array::from(std::vector<std::int64_t>{0, 1, 0, 0}, {4}), {"a", "b"}}};
  dataset.validation = {0, 1, 2, 3};
  return dataset;
}

/// A pass that finds the same in every graph.
template <const char* name, const char* found>
passes::PassRow fixed_pass() {
  passes::PassRow row;
  row.doc = {name, passes::PassKind::analysis, "Finds the same in every graph."};
  row.run = [](ir::Graph&, const Tree&, passes::PassContext&) {
    passes::Result result;
    result.info = parse_json(found, "found");
    return result;
  };
  return row;
}

constexpr char bits_name[] = "average_bits", count_name[] = "count_operations",
               design_name[] = "add_hardware_metadata";
constexpr char bits[] = R"({"average_bitwidth": 8, "average_bitwidth_with_activations": 6})";
constexpr char counts[] = R"({"parameters": 1, "macs": 2, "flops": 3, "bitops": 4})";
constexpr char design[] =
    R"({"last": 9, "interval": 5, "total": {"lut": 1, "ff": 2, "dsp": 3, "bram": 4},
        "fmax": 150, "throughput": 3e7})";

const passes::PassTable& fixed_passes() {
  static const passes::PassTable table{fixed_pass<bits_name, bits>(),
                                       fixed_pass<count_name, counts>(),
                                       fixed_pass<design_name, design>()};
  return table;
}

/// What a trial with this runner alone measured; `told` collects the epochs of training.
Measured measured_by(const RunnerRow& row, Measured& baseline, Tree& told) {
  const data::Dataset dataset = four_rows();
  Options options;
  options.goals = {{"loss", 2.0, Direction::minimize}};
  Diagnostics diagnostics;
  row.read(Tree::dict(), options.runners, diagnostics);
  diagnostics.throw_if_errors();
  Bench bench;
  bench.dataset = &dataset;
  bench.passes = &fixed_passes();
  bench.evaluator = [](const ir::Graph&, ir::Level level) { return std::make_unique<Echo>(level); };
  bench.train = [](ir::Graph&, const backend::TrainOptions&, const TellEpoch& tell) {
    tell(1, parse_json(R"({"loss": 0.25, "accuracy": 0.5})", "validation"));
  };
  Measurer measurer(std::move(bench), options);
  baseline = measurer.baseline({});
  return measurer({}, {},
                  [&](std::int64_t epoch, double value) { told[std::to_string(epoch)] = value; });
}

/// How often a search with these tables runs the model, and what it measured of a trial.
std::pair<int, Measured> runs_of(const std::string& tables) {
  Diagnostics diagnostics;
  const OwnMetrics own = read_own_metrics(
      config::parse_toml("[seen]\ncommand = '''sh -c 'wc -c < $1' x {outputs}'''", "m"),
      diagnostics);
  const Options options =
      read_options(config::parse_toml(
                       "[search_space.setup]\n[search_space.seed.default.config]\nname = [\"NA\"]\n"
                       "[strategy.setup]\n[strategy.metrics]\nseen = {}\n" +
                           tables,
                       "x.toml"),
                   diagnostics, own);
  diagnostics.throw_if_errors();
  const data::Dataset dataset = four_rows();
  int runs = 0;
  Bench bench;
  bench.dataset = &dataset;
  bench.passes = &fixed_passes();
  bench.evaluator = [&](const ir::Graph&, ir::Level level) {
    ++runs;
    return std::make_unique<Echo>(level);
  };
  Measurer measurer(std::move(bench), options);
  measurer.baseline({});
  runs = 0;
  Measured measured = measurer({}, {}, [](std::int64_t, double) {});
  return {runs, std::move(measured)};
}

std::set<std::string> names_of(const Tree& tree) {
  std::set<std::string> names;
  for (const auto& [name, value] : tree.as_dict()) names.insert(name);
  return names;
}

BasicTrain read_training(const std::string& text, std::string* problems = nullptr) {
  Diagnostics diagnostics;
  const BasicTrain out = BasicTrain::read(config::parse_toml(text, "x.toml"), diagnostics);
  if (problems)
    *problems = diagnostics.text();
  else
    diagnostics.throw_if_errors();
  return out;
}

std::string training_problems_of(const std::string& text) {
  std::string problems;
  read_training(text, &problems);
  return problems;
}

}  // namespace

TEST_CASE("the bound on the loss of accuracy counts rows that changed") {
  std::vector<std::uint8_t> before(100, 1), after(100, 1);
  for (int row = 0; row < 5; ++row) after[row] = 0;
  for (int row = 5; row < 7; ++row) before[row] = 0;
  // 5.5 lost and 2.5 won of 102: mean 3/102, variance (8/102 - mean^2)/102.
  CHECK(std::abs(accuracy_drop_bound(before, after) - 7.4771) < 1e-4);
  // Ten equal rows leave room for 1.645/12 of them.
  const std::vector<std::uint8_t> equal(10, 1);
  CHECK(std::abs(accuracy_drop_bound(equal, equal) - 13.7071) < 1e-4);
}

TEST_CASE("every runner has a table, a sentence, and measures the metrics that it names") {
  std::set<std::string> tables;
  for (const RunnerRow& row : runner_table()) {
    INFO(row.name);
    CHECK(tables.insert(row.table()).second);
    CHECK(row.doc.ends_with('.'));
    std::set<std::string> wanted;
    for (const MetricDoc& metric : row.metrics) wanted.emplace(metric.name);
    Measured baseline;
    Tree told = Tree::dict();
    const Measured measured = measured_by(row, baseline, told);
    const bool software = row.kind == RunnerKind::software;
    const std::set<std::string> found = names_of(software ? measured.software : measured.hardware);
    if (row.needs_labels)  // these measure the figures of the task, here of a classifier
      CHECK(found == std::set<std::string>{"accuracy", "accuracy_drop", "accuracy_drop_bound",
                                           "loss", "macro_accuracy"});
    else
      CHECK(found == wanted);
    for (const std::string& name : found) CHECK(wanted.contains(name));
    CHECK(names_of(software ? measured.hardware : measured.software).empty());
    for (const std::string& name : names_of(baseline.software)) CHECK(wanted.contains(name));
    for (const std::string& name : names_of(baseline.hardware)) CHECK(wanted.contains(name));
    CHECK(told.size() == (row.trains() ? 1 : 0));
    for (const std::string_view metric : row.told) CHECK(row.delivers(metric));
  }
}

TEST_CASE("the figures of all tasks with labels are metrics") {
  std::set<std::string> figures{"accuracy_drop", "accuracy_drop_bound"}, metrics;
  for (const data::TaskRow& task : data::task_table())
    for (const data::FigureRow& figure : task.figures)
      if (task.has_labels()) figures.emplace(figure.name);
  for (const MetricDoc& metric : score_metrics) metrics.emplace(metric.name);
  CHECK(metrics == figures);
}

TEST_CASE("a figure of one of two targets is a metric by itself, the loss is their sum") {
  const data::FigureRow& mae = data::figures::mae;
  const data::Figures figures{3,
                              1.5,
                              {{"a.loss", 1, &data::figures::loss},
                               {"a.mae", 2, &mae},
                               {"b.loss", 4, &data::figures::loss}}};
  const Tree tree = figures_tree(figures);
  CHECK(tree.at("mae").as_double() == 2);
  CHECK(tree.at("a.mae").as_double() == 2);
  CHECK(tree.at("b.loss").as_double() == 4);
  CHECK(tree.at("loss").as_double() == 1.5);
}

TEST_CASE(
    "every metric comes from one runner of a search: two that share one are refused together") {
  for (const MetricRow& metric : metric_table()) {
    INFO(metric.name);
    CHECK_FALSE(metric.doc.empty());
    REQUIRE_FALSE(metric.runners.empty());
    if (metric.runners.size() == 1) continue;
    Diagnostics diagnostics;
    std::string text = "[search_space.setup]\n[search_space.seed]\n[strategy.setup]\n";
    for (const std::string_view runner : metric.runners)
      text += "[strategy.sw_runner." + std::string(runner) + "]\n";
    text += "[strategy.metrics]\nloss.direction = \"minimize\"\n";
    read_options(config::parse_toml(text, "x.toml"), diagnostics);
    CHECK(diagnostics.text().find("give basic_evaluation or basic_train, not both: each of "
                                  "them measures accuracy") != std::string::npos);
  }
}

TEST_CASE("a score is compared with the float model's, an epoch is told in the objective's scale") {
  Measured baseline;
  Tree told = Tree::dict();
  for (const RunnerRow& row : runner_table()) {
    if (row.name != BasicTrain::doc.name) continue;
    const Measured measured = measured_by(row, baseline, told);
    CHECK(baseline.value("accuracy") == 0.75);
    CHECK(measured.value("accuracy") == 0.25);
    CHECK(measured.value("accuracy_drop") == 50);
    CHECK(told.at("1") == Tree(0.5));
  }
}

TEST_CASE("without labels, outputs are compared with those of the float model") {
  Measured baseline;
  Tree told = Tree::dict();
  for (const RunnerRow& row : runner_table()) {
    CHECK(row.needs_labels == row.delivers("accuracy"));
    if (row.name != OutputDistance::doc.name) continue;
    const Measured measured = measured_by(row, baseline, told);
    // Outputs y = -x: the noise is (2 x)^2, four times the signal.
    CHECK(measured.value("sqnr_db") == Approx(-10 * std::log10(4.0)));
    CHECK(measured.value("cosine") == Approx(-1.0));
    CHECK(measured.value("worst_error") == 2.0);
    CHECK(baseline.value("sqnr_db") == 300.0);
    CHECK(baseline.value("worst_error") == 0.0);
  }
}

TEST_CASE("a trial that trains takes any training setting, and the others from the settings") {
  backend::TrainOptions settings;
  settings.momentum = 0.5;
  settings.gamma = 0.25;
  const BasicTrain given = read_training(R"(
dataloader = "test_dataloader"
optimizer = "sgd"
lr_scheduler = "step"
learning_rate = 1
momentum = 0.75
batch_size = 100
weight_decay = "NA"
num_samples = 250
)");
  CHECK(given.data_loader == "test_dataloader");
  const backend::TrainOptions options = given.options(settings);
  CHECK(options.optimizer == "sgd");
  CHECK(options.schedule == "step");
  CHECK(options.learning_rate == 1.0);
  CHECK(options.momentum == 0.75);
  CHECK(options.gamma == 0.25);
  CHECK(options.weight_decay == settings.weight_decay);
  CHECK(options.max_steps == 3);
  settings.max_steps = 2;
  CHECK(given.options(settings).max_steps == 2);
  CHECK(read_training("max_steps = 7").options(settings).max_steps == 7);
  settings.max_steps = -1;  // as many as the epochs have
  CHECK(given.options(settings).max_steps == 3);
}

TEST_CASE("wrong training settings of a trial are refused under the names they have there") {
  CHECK(training_problems_of("optimizer = \"adm\"\n")
            .find("option 'optimizer' is \"adm\"; allowed: adam | "
                  "adamw | sgd; did you mean \"adam\"?") != std::string::npos);
  CHECK(training_problems_of("lr_scheduler = \"cos\"\n")
            .find("x.toml:1:16: error: option 'lr_scheduler'") != std::string::npos);
  CHECK(training_problems_of("max_steps = 0\n").find("option 'max_steps' is 0; allowed: >= 1") !=
        std::string::npos);
  CHECK(training_problems_of("max_epochs = 1.5\n").find("'max_epochs' must be an integer") !=
        std::string::npos);
  CHECK(training_problems_of("lerning_rate = 1\n").find("did you mean 'learning_rate'") !=
        std::string::npos);
  CHECK(training_problems_of("training_optimizer = \"sgd\"\n").find("unknown option") !=
        std::string::npos);
}

TEST_CASE("points of accuracy lost are counted in rows") {
  for (const std::int64_t rows : {100, 150, 300, 500, 1000, 2490}) {
    for (std::int64_t lost = -rows / 10; lost <= rows / 10; ++lost) {
      const std::int64_t before = rows / 2 + 7;
      const auto share = [&](std::int64_t correct) {
        return static_cast<double>(correct) / static_cast<double>(rows);
      };
      const double drop = search::accuracy_drop(share(before), share(before - lost), rows);
      CHECK((drop <= 1.0) == (100 * lost <= rows));
      CHECK((drop >= -2.5) == (1000 * lost >= -25 * rows));
    }
  }
}

TEST_CASE("rows that do not fit are gathered again in every pass, with the same values") {
  data::Dataset dataset;
  std::vector<float> numbers(1300);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  dataset.inputs = {{"x", Array::from(numbers, {1300, 1})}};
  for (std::int64_t row = 1299; row >= 0; --row) dataset.validation.push_back(row);
  constexpr std::size_t enough = 1100 * sizeof(float);
  const search::RowBatches kept(dataset, dataset.validation, 1100, enough);
  const search::RowBatches gathered(dataset, dataset.validation, 1100, enough - 1);
  CHECK(kept.are_kept());
  CHECK_FALSE(gathered.are_kept());
  for (const search::RowBatches* batches : {&kept, &gathered, &gathered}) {
    std::vector<std::size_t> sizes;
    float next = 1299;
    batches->for_each([&](const data::Batch& batch) {
      const auto values = batch.inputs.front().span<float>();
      sizes.push_back(values.size());
      for (const float value : values) CHECK(value == next--);
    });
    CHECK(sizes == std::vector<std::size_t>{512, 512, 76});
  }
}

TEST_CASE("one run of a trial's model serves the figures and the user's own programs") {
  for (const std::string runner :
       {"sw_runner.basic_evaluation", "sw_runner.output_distance", "hw_runner.average_bitwidth"}) {
    INFO(runner);
    const auto [runs, measured] = runs_of("[strategy." + runner + "]\n");
    CHECK(runs == 1);
    CHECK(measured.value("seen") == 128 + 4 * 2 * 4);  // the header and [4, 2] float32
  }
}
