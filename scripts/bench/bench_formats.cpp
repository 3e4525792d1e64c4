// SPDX-License-Identifier: Apache-2.0
// Measures the speed of fake quantization, encoding and decoding by number formats, relative to
// memcpy in the same run. A copy is timed before each measurement, so that both see the same load
// of the machine. It is processor time of one thread, with warm buffers, for a matrix with rows of
// 4096 normal numbers, and for block formats on rows shorter than their blocks.
//
// Usage: bench_formats [elements] [rounds] [json | codes | goals [WORD] | WORD]. WORD selects
// formats whose text contains it. codes measures only encoding and decoding. goals quantizes to
// every format in every layout and rounding, prints the share of memcpy and its goal, and fails if
// one is missed.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "formats/format.hpp"
#include "measured_formats.hpp"

namespace {

using namespace mase;
using namespace mase::formats;

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double time_of(const std::function<void()>& run) {
  const double start = thread_seconds();
  run();
  return thread_seconds() - start;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

/// The seconds of a run, and of the copies timed with it.
struct Measured {
  double seconds = 0, copy = 0;
  double share() const { return copy / seconds; }
};

class Bench {
 public:
  Bench(const Shape& shape, int rounds)
      : rounds_(rounds), in_(size_of(shape)), out_(in_), copy_(in_), shape_(shape) {
    Random random(1);
    for (float& value : in_) value = static_cast<float>(random.normal());
  }

  Measured quantize(const Format& format) {
    return measure([&] { format.quantize(in_, out_, shape_); });
  }
  Measured encode(const Format& format, Encoded& encoded) {
    return measure([&] { encoded = format.encode(in_, shape_); });
  }
  Measured decode(const Format& format, const Encoded& encoded) {
    return measure([&] { format.decode(encoded, out_, shape_); });
  }

 private:
  static std::size_t size_of(const Shape& shape) { return static_cast<std::size_t>(numel(shape)); }

  Measured measure(const std::function<void()>& run) {
    run();
    std::vector<double> seconds, copies;
    for (int round = 0; round < rounds_; ++round) {
      copies.push_back(
          time_of([&] { std::memcpy(copy_.data(), in_.data(), in_.size() * sizeof(float)); }));
      seconds.push_back(time_of(run));
    }
    return {median(seconds), median(copies)};
  }

  int rounds_;
  std::vector<float> in_, out_, copy_;
  Shape shape_;
};

/// Formats with random numbers, blocks across rows, or tiles of several rows.
const std::vector<std::string> slower_formats{
    "integer(8, 4, rounding=stochastic)",
    "scale_integer(8, rounding=stochastic)",
    "minifloat_ieee(8, 4, rounding=stochastic)",
    "fp8_e4m3(rounding=stochastic)",
    "log(8, rounding=stochastic)",
    "block_fp(8, 8, rounding=stochastic)",
    "block_minifloat(8, 4, 8, skip_first_dim=true, rounding=stochastic)",
    "block_log(8, 8, skip_first_dim=true, rounding=stochastic)",
    "mxint8(rounding=stochastic)",
    "mxfp8_e4m3(rounding=stochastic)",
    "mxfp4(rounding=stochastic)",
    "nvfp4(rounding=stochastic)",
    "binary(stochastic=true)",
    "mxint8(block_dim=0)",
    "mxfp8_e4m3(block_dim=0)",
    "mxfp4(block_dim=0)",
    "nvfp4(block_dim=0)",
    "block_fp(8, 8, block_size=[16, 16], skip_first_dim=false)",
    "block_minifloat(8, 4, 8)",
    "block_log(8, 8)",
    "mxint_hardware(8, parallelism=[4, 4])",
    "binary_residual",
};

/// Further formats whose codes are measured: more widths, blocks across rows, and tiles.
const std::vector<std::string> coded_formats{
    "integer(16, 8)",
    "scale_integer(8)",
    "minifloat_ieee(element=bfloat16)",
    "minifloat_ieee(element=float16)",
    "mxint4(block_dim=0)",
    "mxfp6_e3m2(block_dim=0)",
    "block_fp(8, 8, block_size=[16, 1], skip_first_dim=false)",
    "block_fp(4, 8, block_size=[16, 16], skip_first_dim=false)",
    "block_minifloat(8, 4, 8, block_size=[16, 16], skip_first_dim=false)",
    "block_log(8, 8, block_size=[16, 16], skip_first_dim=false)",
    "mxint_hardware(4, parallelism=[16, 16])",
};

/// Formats for which only fake quantization is measured.
const std::vector<std::string> variants{
    "minifloat_ieee(8, 4, profile=reference)",
    "minifloat_denorm(8, 4, profile=reference)",
    "log(8, profile=reference)",
    "block_fp(8, 8, profile=reference)",
    "block_minifloat(8, 4, 8, profile=reference)",
    "block_log(8, 8, profile=reference)",
    "mxint8(profile=reference)",
    "mxfp8_e4m3(profile=reference)",
    "binary(profile=reference)",
    "scale_integer(8, profile=reference)",
    "binary(scaled=true)",
    "ternary",
    "ternary(scaling_factor=true)",
    "scale_integer(8)",
    "integer(8, 4, rounding=nearest_away)",
    "integer(8, 4, rounding=stochastic)",
    "integer(8, 4, profile=mase)",
    "minifloat_ieee(8, 4, rounding=floor)",
    "minifloat_ieee(element=bfloat16)",
    "log(8, rounding=floor)",
    "block_fp(8, 8, skip_first_dim=false)",
    "block_minifloat(8, 4, 8)",
    "mxfp4(scale_rule=rceil)",
    "nvfp4(tensor_scale=none)",
};

/// Formats for fake quantization of short rows, as in attention heads.
const std::vector<std::string> short_row_formats{"mxint8", "mxfp4", "block_fp(8, 8)", "nvfp4"};
const std::vector<std::int64_t> short_rows{8, 12, 20, 24};

/// A group of formats with one value for each of several options, and the share of memcpy that
/// quantization should reach.
struct Group {
  double goal;
  std::vector<std::string> formats;
  std::vector<std::vector<std::string>> options;
};

const std::vector<std::string> plain{"", "rounding=floor", "rounding=nearest_away"};
const std::vector<std::string> by_chance{"rounding=stochastic"};
const std::vector<std::string> elements{"integer(8, 4)",
                                        "fixed(8, 4)",
                                        "scale_integer(8)",
                                        "minifloat_ieee(8, 4)",
                                        "minifloat_denorm(8, 4)",
                                        "minifloat_ieee(element=bfloat16)",
                                        "fp8_e4m3",
                                        "fp8_e5m2",
                                        "fp6_e3m2",
                                        "fp6_e2m3",
                                        "fp4_e2m1",
                                        "log(8)"};
const std::vector<std::string> tiled{"block_fp(8, 8)", "block_minifloat(8, 4, 8)",
                                     "block_log(8, 8)"};
/// Shapes of tiles: rows, columns, squares, and 16 whole columns.
const std::vector<std::string> tiles{
    "skip_first_dim=true", "skip_first_dim=false, block_size=[32, 1]",
    "skip_first_dim=false, block_size=[16, 16]", "skip_first_dim=false"};
const std::vector<std::string> lined{"mxint8",     "mxint4",     "mxfp8_e4m3", "mxfp8_e5m2",
                                     "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4",      "nvfp4"};
const std::vector<std::string> lines{"", "block_dim=0"};
const std::vector<std::string> hardware{"parallelism=[1, 32]", "parallelism=[4, 4]"};

const std::vector<Group> groups{
    {1.0, elements, {plain}},
    {1.0,
     {"binary", "binary(scaled=true)", "ternary(threshold=0.25)", "ternary", "binary_residual",
      "binary_residual(4)"},
     {}},
    {0.8, tiled, {tiles, plain}},
    {0.8, lined, {lines, plain}},
    {0.8, {"mxint_hardware(8)"}, {hardware, plain}},
    {0.5, elements, {by_chance}},
    {0.5, {"binary(stochastic=true)"}, {}},
    {0.5, tiled, {tiles, by_chance}},
    {0.5, lined, {lines, by_chance}},
    {0.5, {"mxint_hardware(8)"}, {hardware, by_chance}},
    {0.2,
     {"integer(8, 4)", "minifloat_ieee(8, 4)", "minifloat_denorm(8, 4)", "log(8)", "binary",
      "binary_residual(4)", "scale_integer(8)"},
     {{"profile=reference"}}},
    {0.2, tiled, {tiles, {"profile=reference"}}},
    {0.2,
     {"mxint8", "mxint4", "mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4"},
     {lines, {"profile=reference"}}},
    {0.2, {"mxint_hardware(8)"}, {hardware, {"profile=reference"}}},
};

/// The text of a format with a further option.
std::string with_option(const std::string& format, const std::string& option) {
  if (option.empty()) return format;
  if (format.back() != ')') return format + "(" + option + ")";
  return format.substr(0, format.size() - 1) + ", " + option + ")";
}

std::vector<std::string> texts_of(const Group& group) {
  std::vector<std::string> texts = group.formats;
  for (const auto& options : group.options) {
    std::vector<std::string> longer;
    for (const std::string& text : texts)
      for (const std::string& option : options) longer.push_back(with_option(text, option));
    texts = longer;
  }
  return texts;
}

struct Row {
  std::string text;
  Measured quantize, encode, decode;
};

enum class Parts { quantize, codes, all };

Row measure(Bench& bench, const std::string& text, Parts parts) {
  const Format format = parse_format(text);
  Row row{text, {}, {}, {}};
  if (parts != Parts::codes) row.quantize = bench.quantize(format);
  if (parts == Parts::quantize) return row;
  Encoded encoded;
  row.encode = bench.encode(format, encoded);
  row.decode = bench.decode(format, encoded);
  return row;
}

void measure_short_rows(std::int64_t count, int rounds, std::vector<Row>& rows) {
  for (const std::int64_t length : short_rows) {
    Bench bench({std::max<std::int64_t>(1, count / length), length}, rounds);
    for (const std::string& text : short_row_formats) {
      rows.push_back(measure(bench, text, Parts::quantize));
      rows.back().text += ", rows of " + std::to_string(length);
    }
  }
}

void print_json(const std::vector<Row>& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::printf("%s{\"format\": \"%s\", \"seconds\": %.6g, \"quantize\": %.4g, \"encode\": %.4g}",
                i == 0 ? "[" : ",\n ", rows[i].text.c_str(), rows[i].quantize.seconds,
                rows[i].quantize.share(), rows[i].encode.share());
  std::printf("]\n");
}

std::string percent(const Measured& measured) {
  return measured.seconds > 0 ? std::to_string(std::lround(100 * measured.share())) + " %" : "";
}

void print_table(const std::vector<Row>& rows, std::int64_t count) {
  std::printf("%-46s %8s %8s | of memcpy: %8s %8s %8s\n", "format", "ms", "GB/s", "quantize",
              "encode", "decode");
  for (const Row& row : rows) {
    const double seconds = row.quantize.seconds;
    std::printf("%-46s %8.2f %8.2f | %19s %8s %8s\n", row.text.c_str(), seconds * 1e3,
                seconds > 0 ? 8e-9 * static_cast<double>(count) / seconds : 0.0,
                percent(row.quantize).c_str(), percent(row.encode).c_str(),
                percent(row.decode).c_str());
  }
}

/// Prints the goals of formats whose text contains `word`. Returns how many rows miss their goals.
int print_goals(Bench& bench, const std::string& word) {
  int missed = 0;
  std::printf("%8s %8s %8s   %s\n", "ms", "memcpy", "goal", "quantize");
  for (const Group& group : groups)
    for (const std::string& text : texts_of(group)) {
      if (text.find(word) == std::string::npos) continue;
      const Measured measured = bench.quantize(parse_format(text));
      const bool misses = measured.share() < group.goal;
      missed += misses ? 1 : 0;
      std::printf("%8.2f %8s %6.0f %% %c %s\n", measured.seconds * 1e3, percent(measured).c_str(),
                  100 * group.goal, misses ? '!' : ' ', text.c_str());
    }
  std::printf("%d below their goals\n", missed);
  return missed;
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t count = argc > 1 ? std::atoll(argv[1]) : std::int64_t{1} << 24;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 11;
  const std::string word = argc > 3 ? argv[3] : "";
  const bool json = word == "json", codes = word == "codes";
  if (count < 1 || rounds < 1) {
    std::fprintf(stderr,
                 "usage: bench_formats [elements] [rounds] [json | codes | goals [WORD] | WORD]\n");
    return 2;
  }
  Bench bench(count % 4096 == 0 ? Shape{count / 4096, 4096} : Shape{1, count}, rounds);
  if (word == "goals") return print_goals(bench, argc > 4 ? argv[4] : "") > 0 ? 1 : 0;
  std::vector<Row> rows;
  const auto add = [&](const std::vector<std::string>& texts, Parts parts) {
    for (const std::string& text : texts)
      if (json || codes || text.find(word) != std::string::npos)
        rows.push_back(measure(bench, text, parts));
  };
  add(measured_formats, codes ? Parts::codes : Parts::all);
  if (json) {
    print_json(rows);
    return 0;
  }
  add(slower_formats, codes ? Parts::codes : Parts::all);
  add(coded_formats, Parts::codes);
  if (!codes) add(variants, Parts::quantize);
  if (word.empty()) measure_short_rows(count, rounds, rows);
  print_table(rows, count);
  return 0;
}
