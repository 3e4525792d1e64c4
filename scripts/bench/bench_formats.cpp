// Speed of fake quantization, encoding and decoding by number formats, as a ratio to memcpy in the
// same run: copies and kernels take turns, so that both meet the same load of the machine. One
// thread, warm buffers.
//
// Usage: bench_formats [elements] [rounds]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "formats/format.hpp"
#include "formats/kernels/integer_kernel.hpp"

namespace {

using namespace mase;
using namespace mase::formats;

struct Contender {
  std::string name;
  std::function<void()> run;
  std::vector<double> seconds;
};

double time_of(const std::function<void()>& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

std::vector<float> normal_values(std::size_t count) {
  Random random(1);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

void add_kernels(std::vector<Contender>& contenders, const IntegerSpec& spec,
                 const std::string& name, const std::vector<float>& in, std::vector<float>& out) {
  for (const kernels::Isa isa : kernels::available_isas())
    contenders.push_back({name + " " + std::string(kernels::isa_name(isa)),
                          [&in, &out, spec, isa] {
                            kernels::integer_kernel(isa, spec.rounding, spec.profile)(
                                kernels::integer_grid(spec), in.data(), out.data(), in.size());
                          },
                          {}});
}

/// Rows of 4096 elements where they divide `count`.
Shape shape_of(std::size_t count) {
  const auto elements = static_cast<std::int64_t>(count);
  return elements % 4096 == 0 ? Shape{elements / 4096, 4096} : Shape{elements};
}

void add_format(std::vector<Contender>& contenders, const std::string& text,
                const std::vector<float>& in, std::vector<float>& out) {
  const Format format = parse_format(text);
  const Shape shape = shape_of(in.size());
  contenders.push_back({text, [&in, &out, format, shape] { format.quantize(in, out, shape); }, {}});
}

void add_codes(std::vector<Contender>& contenders, const std::string& text,
               const std::vector<float>& in, std::vector<float>& out) {
  const Format format = parse_format(text);
  const Shape shape = shape_of(in.size());
  const auto codes = std::make_shared<Encoded>();
  contenders.push_back(
      {"encode " + text, [&in, codes, format, shape] { *codes = format.encode(in, shape); }, {}});
  contenders.push_back(
      {"decode " + text, [&out, codes, format, shape] { format.decode(*codes, out, shape); }, {}});
}

void add_elements(std::vector<Contender>& contenders, const std::vector<float>& in,
                  std::vector<float>& out) {
  for (const char* text :
       {"minifloat_ieee(8, 4)", "minifloat_ieee(8, 4, rounding=floor)",
        "minifloat_ieee(8, 4, rounding=nearest_away)", "minifloat_ieee(8, 4, rounding=stochastic)",
        "minifloat_ieee(8, 4, profile=mase)", "minifloat_denorm(8, 4)", "fp8_e4m3", "fp8_e5m2",
        "fp8_e5m2(saturate=false)", "fp6_e3m2", "fp6_e2m3", "fp4_e2m1",
        "minifloat_ieee(element=bfloat16)", "log(8)", "log(8, rounding=floor)",
        "log(8, profile=mase)"})
    add_format(contenders, text, in, out);
  for (const char* text : {"minifloat_ieee(8, 4)", "minifloat_denorm(8, 4)", "fp8_e4m3", "fp6_e3m2",
                           "fp4_e2m1", "log(8)"})
    add_codes(contenders, text, in, out);
}

// Block formats over a matrix: rows of 4096 when that divides.
void add_blocks(std::vector<Contender>& contenders, const std::string& text,
                const std::vector<float>& in, std::vector<float>& out) {
  const Format format = parse_format(text);
  const auto count = static_cast<std::int64_t>(in.size());
  const Shape shape{count % 4096 == 0 ? count / 4096 : 1, count % 4096 == 0 ? 4096 : count};
  contenders.push_back({text, [&in, &out, format, shape] { format.quantize(in, out, shape); }, {}});
  contenders.push_back({"encode " + text, [&in, format, shape] { format.encode(in, shape); }, {}});
}

void print_table(const std::vector<Contender>& contenders, std::size_t count) {
  const double copy = median(contenders.front().seconds);
  std::printf("%-44s %10s %10s %10s\n", "fake quantization", "median ms", "GB/s", "of memcpy");
  for (const Contender& contender : contenders) {
    const double seconds = median(contender.seconds);
    std::printf("%-44s %10.3f %10.2f %9.0f%%\n", contender.name.c_str(), seconds * 1e3,
                8e-9 * static_cast<double>(count) / seconds, 100 * copy / seconds);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : std::size_t{1} << 24;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 21;
  if (count == 0 || rounds < 1) {
    std::fprintf(stderr, "usage: bench_formats [elements] [rounds]\n");
    return 2;
  }
  const std::vector<float> in = normal_values(count);
  std::vector<float> out(count);
  std::vector<Contender> contenders;
  contenders.push_back(
      {"memcpy", [&] { std::memcpy(out.data(), in.data(), count * sizeof(float)); }, {}});
  for (const char* text :
       {"integer(8, 4)", "integer(8, 4, rounding=nearest_away)", "integer(8, 4, profile=mase)",
        "integer(8, 4, rounding=stochastic)", "integer_floor(8, 4)", "binary",
        "binary(scaled=true)", "ternary(threshold=0.25)", "ternary", "ternary(scaling_factor=true)",
        "scale_integer(8)", "binary_residual(2)"})
    add_format(contenders, text, in, out);
  add_kernels(contenders, IntegerSpec{}, "  kernel nearest_even", in, out);
  for (const char* text :
       {"integer(8, 4)", "integer(4, 2)", "integer(5, 2)", "binary", "binary(scaled=true)",
        "ternary(scaling_factor=true)", "scale_integer(8)"})
    add_codes(contenders, text, in, out);
  add_elements(contenders, in, out);
  for (const char* text :
       {"block_fp(8, 8)", "block_fp(8, 8, skip_first_dim=false)",
        "block_minifloat(8, 4, 8, skip_first_dim=true)", "block_minifloat(8, 4, 8)",
        "block_log(8, 8, skip_first_dim=true)", "block_log(8, 8)", "mxint8", "mxint4", "mxfp8_e4m3",
        "mxfp6_e2m3", "mxfp4", "nvfp4", "nvfp4(tensor_scale=none)"})
    add_blocks(contenders, text, in, out);
  for (Contender& contender : contenders) contender.run();
  for (int round = 0; round < rounds; ++round)
    for (Contender& contender : contenders) contender.seconds.push_back(time_of(contender.run));
  print_table(contenders, count);
  return 0;
}
