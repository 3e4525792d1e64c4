// SPDX-License-Identifier: Apache-2.0
// Every statistic against values by hand, for batches of any size.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "base/random.hpp"
#include "passes/statistics/histogram.hpp"
#include "passes/statistics/statistic.hpp"

namespace mase {
namespace {

std::unique_ptr<passes::Collector> collector(const std::string& name, const Tree& options) {
  Diagnostics diagnostics;
  auto made = passes::find_statistic(name)->make(options, diagnostics);
  INFO(diagnostics.text());
  REQUIRE_FALSE(diagnostics.has_errors());
  return made;
}

Tree options(std::initializer_list<std::pair<std::string, Tree>> entries) {
  Tree tree = Tree::dict();
  for (const auto& [key, value] : entries) tree[key] = value;
  return tree;
}

/// The result after `values`, samples of `shape`, in batches of `batch` samples.
Tree collect(const std::string& name, const Tree& given, const std::vector<float>& values,
             const Shape& shape, std::size_t batch) {
  const auto made = collector(name, given);
  const auto size = static_cast<std::size_t>(numel(shape));
  for (std::size_t first = 0; first < values.size(); first += batch * size) {
    const std::size_t count = std::min(batch * size, values.size() - first);
    made->add({std::span(values).subspan(first, count), std::int64_t(count / size), shape});
  }
  return made->result();
}

std::vector<float> normal_values(std::uint64_t seed, std::size_t count, double mean) {
  Random random(seed);
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(float(mean + random.normal()));
  return values;
}

const std::vector<float> eight{1, 2, 3, 4, 5, 6, 7, 8};

}  // namespace

TEST_CASE("the variance of [1..4] and then [5..8] is 5.25, of the sample 6") {
  for (const std::size_t batch : {1, 2, 3}) {
    const Tree online = collect("variance_online", Tree::dict(), eight, {1, 4}, batch);
    CHECK(online.at("mean").as_double() == 4.5);
    CHECK(online.at("variance").as_double() == 5.25);
    CHECK(online.at("count").as_int() == 8);
    const Tree precise = collect("variance_precise", Tree::dict(), eight, {1, 4}, batch);
    CHECK(precise.at("mean").as_double() == 4.5);
    CHECK(precise.at("variance").as_double() == 6.0);
  }
}

TEST_CASE("dims choose the dimensions that are combined besides the samples") {
  // Two samples [[1, 2], [3, 4]] and [[5, 6], [7, 8]].
  const auto means = [](const Tree& dims) {
    return to_json(
        collect("variance_online", options({{"dims", dims}}), eight, {2, 2}, 1).at("mean"), -1);
  };
  CHECK(means("all") == "4.5");
  CHECK(means("none") == "[[3.0,4.0],[5.0,6.0]]");
  CHECK(means(Tree::list_of(std::vector<int>{0})) == "[4.0,5.0]");
  CHECK(means(Tree::list_of(std::vector<int>{1})) == "[3.5,5.5]");
  CHECK(means(Tree::list_of(std::vector<int>{-1})) == "[3.5,5.5]");
  CHECK(means(Tree::list_of(std::vector<int>{0, 1})) == "4.5");
  const Tree rows =
      collect("variance_precise", options({{"dims", Tree::list_of(std::vector<int>{1})}}), eight,
              {2, 2}, 2);
  // 1, 2, 5, 6 and 3, 4, 7, 8: squares of -2.5, -1.5, 1.5, 2.5 over 3.
  CHECK(to_json(rows.at("variance"), -1) == "[5.666666666666667,5.666666666666667]");
  CHECK(rows.at("count").as_int() == 4);
}

TEST_CASE("variance is right far away from zero") {
  // 2^24 and its even neighbours: squares need 49 bits, their differences 2.
  const float far = 0x1p24f;
  const std::vector<float> values{far, far + 2, far + 4, far + 6};
  for (const std::size_t batch : {1, 2, 4}) {
    const Tree precise = collect("variance_precise", Tree::dict(), values, {1}, batch);
    CHECK(precise.at("variance").as_double() == Approx(20.0 / 3).epsilon(1e-14));
    const Tree online = collect("variance_online", Tree::dict(), values, {1}, batch);
    CHECK(online.at("variance").as_double() == Approx(5.0).epsilon(1e-12));
  }
}

TEST_CASE("a variance merged from batches of any size is that of all values at once") {
  const std::vector<float> values = normal_values(3, 5000, 10);
  double mean = 0, m2 = 0;
  for (const float x : values) mean += x / 5000.0;
  for (const float x : values) m2 += (x - mean) * (x - mean);
  for (const std::size_t batch : {1, 7, 128, 5000}) {
    const Tree online = collect("variance_online", Tree::dict(), values, {1}, batch);
    CHECK(online.at("mean").as_double() == Approx(mean).epsilon(1e-12));
    CHECK(online.at("variance").as_double() == Approx(m2 / 5000).epsilon(1e-12));
  }
}

TEST_CASE("a single value has no variance and no range") {
  for (const char* name : {"variance_online", "variance_precise"})
    CHECK(collect(name, Tree::dict(), {3}, {1}, 1).at("variance").as_string() == "NA");
  for (const char* name : {"range_min_max", "range_n_sigma", "range_quantile"}) {
    const Tree result = collect(name, Tree::dict(), {3}, {1}, 1);
    CHECK(result.at("range").as_string() == "NA");
    CHECK(result.at("count").as_int() == 1);
  }
}

TEST_CASE("ranges by extremes, by sigma and by quantile") {
  const std::vector<float> values{-3, 1, 2, 4};
  const Tree extremes = collect("range_min_max", Tree::dict(), values, {1, 2}, 1);
  CHECK(extremes.at("min").as_double() == -3);
  CHECK(extremes.at("max").as_double() == 4);
  CHECK(extremes.at("range").as_double() == 7);
  const Tree magnitudes = collect("range_min_max", options({{"abs", true}}), values, {1, 2}, 1);
  CHECK(magnitudes.at("min").as_double() == 1);
  // Mean 1, squares 16, 0, 1, 9: population variance 26 / 4, sample variance 26 / 3.
  const Tree sigma = collect("range_n_sigma", options({{"num_sigma", 2}}), values, {1, 2}, 1);
  CHECK(sigma.at("max").as_double() == Approx(1 + 2 * std::sqrt(6.5)));
  CHECK(sigma.at("min").as_double() == Approx(1 - 2 * std::sqrt(6.5)));
  const Tree sample = collect("range_n_sigma", options({{"num_sigma", 1}, {"var_mode", "precise"}}),
                              values, {2}, 2);
  CHECK(sample.at("max").as_double() == Approx(1 + std::sqrt(26.0 / 3)));
  // Ranks 0.3 and 2.7 of -3, 1, 2, 4.
  const Tree quantile = collect("range_quantile", options({{"quantile", 0.9}}), values, {1, 2}, 1);
  CHECK(quantile.at("min").as_double() == Approx(-3 + 0.3 * 4));
  CHECK(quantile.at("max").as_double() == Approx(2 + 0.7 * 2));
  const Tree median =
      collect("range_quantile", options({{"quantile", 0.5}, {"abs", true}}), values, {1, 2}, 1);
  CHECK(median.at("max").as_double() == 2.5);
}

TEST_CASE("quantiles are those of the sorted values, also beyond 2^24 of them") {
  std::vector<float> values(std::size_t{1} << 24, 0.0f);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = float((i * 7919) % values.size());
  values.push_back(float(values.size()));
  values.push_back(float(values.size()));
  const auto made = collector("range_quantile", options({{"quantile", 0.75}}));
  made->add({values, 1, {std::int64_t(values.size())}});
  // 0, 1, ..., 2^24 - 1, 2^24, 2^24: rank (2^24 + 1) * 0.75 lies between whole numbers.
  CHECK(made->result().at("max").as_double() == Approx(0.75 * (0x1p24 + 1)).epsilon(1e-15));
  CHECK(made->result().at("count").as_int() == (1 << 24) + 2);
}

TEST_CASE("a record keeps the samples, joined or stacked") {
  const std::vector<float> values{1, 2, 3, 4};
  const Tree joined = collect("record", Tree::dict(), values, {1, 2}, 1);
  CHECK(to_json(joined.at("data"), -1) == "[[1.0,2.0],[3.0,4.0]]");
  CHECK(joined.at("count").as_int() == 2);
  CHECK(joined.at("size_in_bytes").as_int() == 16);
  const Tree stacked =
      collect("record", options({{"add_new_dim_before_concat", true}}), values, {1, 2}, 2);
  CHECK(to_json(stacked.at("data"), -1) == "[[[1.0,2.0]],[[3.0,4.0]]]");
}

TEST_CASE("the mean of magnitudes") {
  const Tree result = collect("abs_mean", Tree::dict(), {-1, 2, -3, 4}, {1, 1}, 3);
  CHECK(result.at("abs_mean").as_double() == 2.5);
  CHECK(result.at("count").as_int() == 4);
}

TEST_CASE("a histogram grows to the same bins whatever the batches") {
  std::vector<float> values = normal_values(5, 3000, 0.3);
  values.push_back(-40.0f);
  const auto counts = [&](std::size_t batch) {
    return to_json(collect("histogram", options({{"bins", 32}}), values, {1}, batch), -1);
  };
  CHECK(counts(1) == counts(3001));
  CHECK(counts(17) == counts(3001));
  passes::Histogram histogram(32);
  histogram.add(values);
  CHECK(histogram.width() == 4.0);  // 16 bins of 4 reach 64, of 2 only 32
  for (std::int64_t bin = 0; bin < 32; ++bin) {
    const double low = histogram.low() + double(bin) * histogram.width();
    CHECK(histogram.counts()[std::size_t(bin)] ==
          std::count_if(values.begin(), values.end(),
                        [&](float x) { return x >= low && x < low + histogram.width(); }));
  }
}

TEST_CASE("samples of another shape are refused unless everything is one cell") {
  const auto one = collector("range_min_max", options({{"dims", "none"}}));
  const std::vector<float> values(6, 1.0f);
  one->add({std::span(values).first(4), 2, {1, 2}});
  CHECK_THROWS_WITH(one->add({values, 2, {1, 3}}), Catch::Contains("[1, 2] and [1, 3]"));
  const auto all = collector("range_min_max", Tree::dict());
  all->add({std::span(values).first(4), 2, {1, 2}});
  all->add({values, 2, {1, 3}});
  CHECK(all->result().at("count").as_int() == 10);
}

}  // namespace mase
