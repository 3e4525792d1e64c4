// SPDX-License-Identifier: Apache-2.0
// The matrix modules in RTL against sums of products computed here.
#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>
#include <set>

#include "hardware/design/building/memory_image.hpp"
#include "hardware/design/folding/packing.hpp"
#include "hardware/design/modules/constant_linear.hpp"
#include "hardware/design/modules/depthwise.hpp"
#include "hardware/design/modules/linear.hpp"
#include "support/module_bench.hpp"

namespace mase::rtl_test {
namespace {

using integer::Codes;
using integer::FixedType;
using integer::Requantise;
using integer::Wide;

constexpr std::int64_t kMatrixFrames = 40;

std::int64_t pick(Random& random, const std::vector<std::int64_t>& values) {
  return values[random.below(values.size())];
}

int pick_multiplier(Random& random, const std::vector<std::int64_t>& values) {
  return static_cast<int>(pick(random, values));
}

/// Number formats of a matrix layer, drawn from all widths, often the narrow ones.
struct Types {
  FixedType in, weight, out;
};

FixedType random_type(Random& random, const std::vector<std::int64_t>& widths) {
  return {static_cast<int>(pick(random, widths)), 0, random.below(2) == 0};
}

Types random_types(Random& random) {
  return {random_type(random, {1, 2, 3, 4, 6, 8, 8, 11, 17, 32}),
          random_type(random, {1, 2, 3, 4, 5, 6, 8, 8, 13, 24}),
          random_type(random, {1, 4, 8, 16, 32})};
}

/// Outputs with their own weights and biases: outputs[o] is a dot product of `inputs` elements.
struct Matrix {
  std::int64_t inputs = 1, outputs = 1;
  Codes weight;  ///< [outputs][inputs]
  Codes bias;    ///< [outputs]; empty without
  Wide half{};   ///< of the divisor: what the module finds in its biases, or starts from

  std::int64_t at(std::int64_t o, std::int64_t i) const {
    return weight[static_cast<std::size_t>(o * inputs + i)];
  }
  Wide start(std::int64_t o) const { return bias.empty() ? 0 : bias[static_cast<std::size_t>(o)]; }
};

Matrix random_matrix(Random& random, std::int64_t inputs, std::int64_t outputs,
                     const FixedType& type) {
  Matrix matrix{inputs, outputs, random_codes(random, type, inputs * outputs), {}};
  if (random.below(3) == 0)
    for (std::int64_t& weight : matrix.weight)
      if (random.below(2) == 0) weight = 0;
  const FixedType bias{static_cast<int>(pick(random, {2, 9, 20, 38})), 0, true};
  if (random.below(4) != 0) matrix.bias = random_codes(random, bias, outputs);
  return matrix;
}

/// Bits of an accumulator that holds every partial sum of every output.
int accumulator_bits(const Matrix& matrix, const FixedType& in) {
  Wide low = 0, high = 0;
  for (std::int64_t o = 0; o < matrix.outputs; ++o) {
    Wide least = matrix.start(o), most = least;
    for (std::int64_t i = 0; i < matrix.inputs; ++i) {
      const Wide a = matrix.at(o, i) * in.low(), b = matrix.at(o, i) * in.high();
      least += std::min({a, b, Wide{0}});
      most += std::max({a, b, Wide{0}});
    }
    low = std::min(low, least);
    high = std::max(high, most);
  }
  return integer::signed_width(low, high);
}

/// As the module reads them.
std::vector<Wide> bias_words(const Matrix& matrix) {
  std::vector<Wide> words{matrix.bias.begin(), matrix.bias.end()};
  for (Wide& word : words) word += matrix.half;
  return words;
}

int bias_bits(const Matrix& matrix) { return integer::codes_width(bias_words(matrix)); }

/// Inputs that drive output `o` to its greatest (or least) value.
Codes extreme_row(const Matrix& matrix, const FixedType& in, std::int64_t o, bool greatest) {
  Codes row;
  for (std::int64_t i = 0; i < matrix.inputs; ++i)
    row.push_back(
        static_cast<std::int64_t>((matrix.at(o, i) > 0) == greatest ? in.high() : in.low()));
  return row;
}

Wide dot(const Matrix& matrix, std::int64_t o, const std::int64_t* x) {
  Wide sum = matrix.start(o);
  for (std::int64_t i = 0; i < matrix.inputs; ++i) sum += Wide{matrix.at(o, i)} * x[i];
  return sum;
}

/// What matrix modules have in common, and a requantisation that suits the accumulator.
struct Common {
  design::MultiplyAccumulate unit;
  Requantise requantise;
};

/// `starts`: the module can start from the half without a bias.
Common common(Random& random, const Types& types, Matrix& matrix, bool starts = true) {
  int bits = accumulator_bits(matrix, types.in);
  const int shift = std::max(-2, bits - types.out.width + static_cast<int>(between(random, -3, 0)));
  const Requantise requantise =
      random_requantise(random, types.out, shift, pick(random, {1, 1, 1, 3}));
  // Half of the divisor d * 2^shift, when the sum is not shifted to the left.
  if (requantise.rounding == formats::Rounding::nearest_even && shift >= 0 && shift < 60 &&
      (starts || !matrix.bias.empty()) && random.below(2) == 0)
    matrix.half = (Wide{requantise.divisor} << shift) / 2;
  if (matrix.half != 0) bits += 2;
  design::MultiplyAccumulate unit;
  static_cast<design::Operands&>(unit) = {
      types.in.width, types.in.is_signed, types.weight.width, types.weight.is_signed,
      bits,           matrix.half != 0};
  static_cast<design::Bias&>(unit) = {!matrix.bias.empty(), bias_bits(matrix)};
  static_cast<design::Requantisation&>(unit) = design::requantisation(requantise, types.out);
  unit.start.value = matrix.half;
  return {unit, requantise};
}

void set_images(design::MultiplyAccumulate& unit, const std::string& name) {
  unit.weight_file = name + "_weight.mem";
  if (unit.has_bias) unit.bias_file = name + "_bias.mem";
}

/// Makes a case of another module of the same kind.
template <design::HardwareModule T, class Change>
void change(Case& test, Change&& change_module) {
  T module = *test.module.as<T>();
  change_module(module);
  test.module = std::move(module);
}

/// The tests' own sums have 64 bits.
template <design::HardwareModule T>
bool sums_fit(const Case& test) {
  return test.module.as<T>()->sum_bits <= 64;
}

/// Memory of words of `lanes` codes.
design::Memory memory(const std::string& file, const std::vector<Wide>& codes, std::int64_t lanes,
                      int bits) {
  return {file, "", "", lanes * bits, design::vector_words(codes, lanes, bits)};
}

std::vector<Wide> widened(const Codes& codes) { return {codes.begin(), codes.end()}; }

struct LinearShape {
  std::int64_t sf = 1, nf = 1, sets = 1, simd = 1, pe = 1;
  int multiplier = 0;
};

/// The weights in the order of the image: set, output block, input block, output, input.
std::vector<Wide> linear_image(const Matrix& matrix, const LinearShape& shape) {
  std::vector<Wide> image;
  for (std::int64_t block = 0; block < shape.sets * shape.nf; ++block)
    for (std::int64_t s = 0; s < shape.sf; ++s)
      for (std::int64_t p = 0; p < shape.pe; ++p)
        for (std::int64_t c = 0; c < shape.simd; ++c)
          image.push_back(matrix.at(block * shape.pe + p, s * shape.simd + c));
  return image;
}

/// Weights of some outputs at an end of their range: what reaches furthest into the next field.
void drive_to_ends(Random& random, Matrix& matrix, const FixedType& type) {
  for (std::int64_t o = 0; o < matrix.outputs; ++o) {
    const std::uint64_t kind = random.below(4);
    if (kind > 1) continue;
    const auto end = static_cast<std::int64_t>(kind == 0 ? type.low() : type.high());
    std::fill_n(matrix.weight.begin() + o * matrix.inputs, matrix.inputs, end);
  }
}

Case linear_case(Random& random, const LinearShape& shape, const Types& types, int index) {
  const std::int64_t inputs = shape.sf * shape.simd, per_set = shape.nf * shape.pe;
  Matrix matrix = random_matrix(random, inputs, per_set * shape.sets, types.weight);
  drive_to_ends(random, matrix, types.weight);
  auto [unit, requantise] = common(random, types, matrix);
  Port in{shape.simd, types.in, {}}, out{shape.pe, types.out, {}};
  for (std::int64_t row = 0; row < kMatrixFrames * shape.sets; ++row) {
    const std::int64_t set = row % shape.sets;
    const std::int64_t target = set * per_set + between(random, 0, per_set - 1);
    const Codes x = row < 4 * shape.sets ? extreme_row(matrix, types.in, target, row % 2 == 0)
                                         : random_codes(random, types.in, inputs);
    in.codes.insert(in.codes.end(), x.begin(), x.end());
    for (std::int64_t o = set * per_set; o < (set + 1) * per_set; ++o)
      out.codes.push_back(static_cast<std::int64_t>(requantise(dot(matrix, o, x.data()))));
  }
  const std::string name = "linear_" + std::to_string(index);
  unit.multiplier = shape.multiplier;
  set_images(unit, name);
  Case test =
      case_of(design::LinearModule{unit, shape.sf, shape.nf, shape.sets, shape.simd, shape.pe},
              {in}, {out});
  test.memories.push_back(memory(name + "_weight.mem", linear_image(matrix, shape),
                                 shape.simd * shape.pe, types.weight.width));
  if (!matrix.bias.empty())
    test.memories.push_back(
        memory(name + "_bias.mem", bias_words(matrix), shape.pe, bias_bits(matrix)));
  return test;
}

TEST_CASE("linear in RTL equals the sums of products at every fold, width and sign") {
  Random random(11);
  std::vector<Case> cases;
  for (int i = 0; cases.size() < 44; ++i) {
    LinearShape shape{pick(random, {1, 1, 2, 3, 7}), pick(random, {1, 1, 2, 3}),
                      pick(random, {1, 1, 2, 3}),    pick(random, {1, 2, 3, 4, 5, 8, 9, 16, 18}),
                      pick(random, {1, 2, 3}),       pick_multiplier(random, {0, 1, 2, 2})};
    Case test = linear_case(random, shape, random_types(random), i);
    if (sums_fit<design::LinearModule>(test)) cases.push_back(std::move(test));
  }
  check_cases(cases, kMatrixFrames);
}

void set_packing(design::Multiplication& unit, const design::SharedProducts& shared,
                 const design::Packing& packing) {
  unit.pack = packing.outputs;
  unit.pitch = packing.pitch;
  unit.known = design::known_bits(shared, packing);
}

/// A linear whose outputs share multipliers; nullopt if no block holds the types.
std::optional<Case> packed_linear(Random& random, const Types& types, int index) {
  const LinearShape shape{pick(random, {1, 2, 3}),
                          pick(random, {1, 2}),
                          1,
                          pick(random, {1, 2, 3, 4, 7, 8, 9, 16}),
                          pick(random, {2, 3, 4, 5}),
                          pick_multiplier(random, {0, 1})};
  const char* blocks[] = {"dsp48e1", "dsp48e2", "dsp58", "mult18x18d"};
  const design::SharedProducts shared{types.in, types.weight, shape.simd, shape.pe};
  const auto packings = design::packings(shared, design::dsp_block(blocks[random.below(4)]));
  if (packings.empty()) return std::nullopt;
  Case test = linear_case(random, shape, types, index);
  const design::Packing& packing = packings[random.below(packings.size())];
  change<design::LinearModule>(
      test, [&](design::LinearModule& module) { set_packing(module, shared, packing); });
  return test;
}

TEST_CASE("outputs that share multipliers in RTL get their own sums at every width and sign") {
  Random random(17);
  std::vector<Case> cases;
  std::set<std::int64_t> known, packs;
  for (int a = 1; a <= 9; ++a)
    for (int w = 2; w <= 9; ++w)
      for (int attempt = 0; attempt < 20; ++attempt) {
        const Types types{{a, 0, random.below(2) == 0},
                          {w, 0, random.below(4) != 0},
                          {static_cast<int>(pick(random, {8, 16})), 0, true}};
        auto test = packed_linear(random, types, a * 16 + w);
        if (!test || cases.size() == 64) continue;
        const auto packed = test->module.as<design::LinearModule>()->packs();
        known.insert(packed.known);
        packs.insert(packed.outputs);
        cases.push_back(std::move(*test));
        break;
      }
  CHECK(cases.size() > 50);
  CHECK(known == std::set<std::int64_t>{0, 1, 2, 3, 4});
  CHECK(packs.size() >= 3);
  check_cases(cases, kMatrixFrames);
}

TEST_CASE("linear in RTL replays rows from block memory and reads many sets of weights") {
  Random random(12);
  const Types types{{8, 0, false}, {6, 0, true}, {8, 0, true}};
  std::vector<Case> cases;
  cases.push_back(linear_case(random, {70, 2, 1, 8, 1, 2}, types, 0));
  cases.push_back(linear_case(random, {72, 3, 1, 8, 2, 0}, types, 1));
  cases.push_back(linear_case(random, {2, 2, 9, 2, 2, 2}, types, 2));
  cases.push_back(linear_case(random, {1, 1, 17, 1, 1, 2}, types, 3));
  check_cases(cases, kMatrixFrames);
}

TEST_CASE("Booth rows in RTL are exact for every pair of codes") {
  Random random(13);
  std::vector<Case> cases;
  int index = 0;
  // With 2^width outputs of one weight each and every input code among the frames.
  for (int a = 1; a <= 5; ++a)
    for (int w = 1; w <= 5; ++w) {
      const FixedType in{a, 0, random.below(2) == 0}, weight{w, 0, random.below(2) == 0};
      const std::int64_t outputs = std::int64_t{1} << w;
      Case test = linear_case(random, {1, outputs, 1, 1, 1, 2}, {in, weight, {12, 0, true}}, index);
      Matrix matrix{1, outputs, {}, {}};
      for (std::int64_t o = 0; o < outputs; ++o)
        matrix.weight.push_back(static_cast<std::int64_t>(weight.low()) + o);
      const Requantise same{0, 1, formats::Rounding::floor, -2048, 2047};
      const std::string file = "booth_" + std::to_string(index++) + ".mem";
      change<design::LinearModule>(test, [&](design::LinearModule& module) {
        static_cast<design::Requantisation&>(module) = design::requantisation(same, {12, 0, true});
        module.sum_bits = accumulator_bits(matrix, in);
        module.has_bias = module.halved = false;
        module.start.value = 0;
        module.weight_file = file;
        module.bias_file = "";
      });
      test.memories = {memory(file, widened(matrix.weight), 1, w)};
      test.inputs[0].codes.clear();
      test.outputs[0].codes.clear();
      for (std::int64_t frame = 0; frame < kMatrixFrames; ++frame) {
        const std::int64_t x = static_cast<std::int64_t>(in.low()) + frame % (std::int64_t{1} << a);
        test.inputs[0].codes.push_back(x);
        for (const std::int64_t y : matrix.weight) test.outputs[0].codes.push_back(x * y);
      }
      cases.push_back(std::move(test));
    }
  check_cases(cases, kMatrixFrames);
}

Case constant_case(Random& random, std::int64_t inputs, std::int64_t outputs, const Types& types) {
  Matrix matrix = random_matrix(random, inputs, outputs, types.weight);
  const auto [unit, requantise] = common(random, types, matrix, false);
  Port in{inputs, types.in, {}}, out{outputs, types.out, {}};
  for (std::int64_t row = 0; row < kMatrixFrames; ++row) {
    const std::int64_t target = between(random, 0, outputs - 1);
    const Codes x = row < 8 ? extreme_row(matrix, types.in, target, row % 2 == 0)
                            : random_codes(random, types.in, inputs);
    in.codes.insert(in.codes.end(), x.begin(), x.end());
    for (std::int64_t o = 0; o < outputs; ++o)
      out.codes.push_back(static_cast<std::int64_t>(requantise(dot(matrix, o, x.data()))));
  }
  const int bits = bias_bits(matrix);
  const std::vector<Wide> biases = matrix.bias.empty()
                                       ? std::vector<Wide>(static_cast<std::size_t>(outputs), 0)
                                       : bias_words(matrix);
  design::ConstantLinearModule module{unit, unit, unit, inputs, outputs};
  module.weights = {design::pack_word(widened(matrix.weight), types.weight.width),
                    inputs * outputs * types.weight.width};
  module.biases = {design::pack_word(biases, bits), outputs * bits};
  return case_of(module, {in}, {out});
}

TEST_CASE("constant weights in RTL give the same sums in one cycle per row") {
  Random random(15);
  std::vector<Case> cases;
  while (cases.size() < 40) {
    Case test = constant_case(random, pick(random, {1, 2, 3, 4, 5, 8, 16, 20, 37}),
                              pick(random, {1, 2, 5}), random_types(random));
    if (sums_fit<design::ConstantLinearModule>(test)) cases.push_back(std::move(test));
  }
  check_cases(cases, kMatrixFrames);
}

struct GroupShape {
  std::int64_t beats = 1, blocks = 1, groups = 1, taps = 1, channels = 1, outputs = 1;

  std::int64_t inputs() const { return beats * taps * channels; }  ///< of an output
  std::int64_t all_groups() const { return blocks * groups; }
};

GroupShape random_groups(Random& random) {
  GroupShape shape{pick(random, {1, 2, 3, 9}), pick(random, {1, 2, 3}), pick(random, {1, 2, 4})};
  if (random.below(2) == 0) return shape;  // a channel's tap per beat
  shape.taps = pick(random, {1, 2, 3, 9});
  shape.channels = pick(random, {1, 2, 3});
  shape.outputs = pick(random, {1, 2, 3});
  return shape;
}

/// The inputs of a block, x[group][tap of all beats][channel], in the order of its beats.
void append_block(Codes& beats, const GroupShape& shape, std::int64_t block,
                  const std::vector<Codes>& x) {
  for (std::int64_t tap = 0; tap < shape.beats * shape.taps; ++tap)
    for (std::int64_t g = 0; g < shape.groups; ++g) {
      const auto* row = x[static_cast<std::size_t>(block * shape.groups + g)].data();
      beats.insert(beats.end(), row + tap * shape.channels, row + (tap + 1) * shape.channels);
    }
}

/// The weights in the order of the image: block, beat, output of the block, tap and channel.
std::vector<Wide> depthwise_image(const Matrix& matrix, const GroupShape& shape) {
  const std::int64_t pe = shape.groups * shape.outputs, simd = shape.taps * shape.channels;
  std::vector<Wide> image;
  for (std::int64_t block = 0; block < shape.blocks; ++block)
    for (std::int64_t beat = 0; beat < shape.beats; ++beat)
      for (std::int64_t p = 0; p < pe; ++p)
        for (std::int64_t s = 0; s < simd; ++s)
          image.push_back(matrix.at(block * pe + p, beat * simd + s));
  return image;
}

Case depthwise_case(Random& random, const GroupShape& shape, int multiplier, const Types& types,
                    int index) {
  const std::int64_t groups = shape.all_groups(), outputs = groups * shape.outputs;
  const std::int64_t pe = shape.groups * shape.outputs, simd = shape.taps * shape.channels;
  Matrix matrix = random_matrix(random, shape.inputs(), outputs, types.weight);  // a row per output
  auto [unit, requantise] = common(random, types, matrix);
  Port in{shape.groups * simd, types.in, {}}, out{pe, types.out, {}};
  for (std::int64_t frame = 0; frame < kMatrixFrames; ++frame) {
    std::vector<Codes> x;  // of each group
    for (std::int64_t g = 0; g < groups; ++g)
      x.push_back(frame < 4
                      ? extreme_row(matrix, types.in, g * shape.outputs + frame / 2 % shape.outputs,
                                    frame % 2 == 0)
                      : random_codes(random, types.in, shape.inputs()));
    for (std::int64_t block = 0; block < shape.blocks; ++block)
      append_block(in.codes, shape, block, x);
    for (std::int64_t o = 0; o < outputs; ++o)
      out.codes.push_back(static_cast<std::int64_t>(
          requantise(dot(matrix, o, x[static_cast<std::size_t>(o / shape.outputs)].data()))));
  }
  const std::string name = "depthwise_" + std::to_string(index);
  unit.multiplier = multiplier;
  set_images(unit, name);
  Case test = case_of(design::DepthwiseModule{unit, shape.beats, shape.blocks, shape.groups,
                                              shape.taps, shape.channels, shape.outputs},
                      {in}, {out});
  test.memories.push_back(
      memory(name + "_weight.mem", depthwise_image(matrix, shape), pe * simd, types.weight.width));
  if (!matrix.bias.empty())
    test.memories.push_back(memory(name + "_bias.mem", bias_words(matrix), pe, bias_bits(matrix)));
  return test;
}

TEST_CASE("outputs of a group share multipliers in RTL, those of others do not") {
  Random random(18);
  std::vector<Case> cases;
  const Types types{{8, 0, false}, {8, 0, true}, {8, 0, true}};
  for (int i = 0; i < 12; ++i) {
    const GroupShape shape{pick(random, {1, 3}), pick(random, {1, 2}), pick(random, {1, 2}),
                           pick(random, {1, 3}), pick(random, {1, 2}), pick(random, {2, 3})};
    const design::SharedProducts shared{types.in, types.weight, shape.taps * shape.channels,
                                        shape.outputs};
    Case test = depthwise_case(random, shape, i % 2, types, 100 + i);
    const design::Packing packing = design::packings(shared, design::dsp_block("dsp48e1")).back();
    change<design::DepthwiseModule>(
        test, [&](design::DepthwiseModule& module) { set_packing(module, shared, packing); });
    cases.push_back(std::move(test));
  }
  check_cases(cases, kMatrixFrames);
}

TEST_CASE("depthwise in RTL gives every group its own weights") {
  Random random(14);
  std::vector<Case> cases;
  for (int i = 0; cases.size() < 50; ++i) {
    Case test = depthwise_case(random, random_groups(random), i % 3, random_types(random), i);
    if (sums_fit<design::DepthwiseModule>(test)) cases.push_back(std::move(test));
  }
  check_cases(cases, kMatrixFrames);
}

TEST_CASE("matrix modules in RTL can have registers on the way to and from multipliers") {
  Random random(19);
  std::vector<Case> cases;
  const Types types{{8, 0, false}, {6, 0, true}, {8, 0, true}};
  for (int i = 0; i < 18; ++i) {
    const LinearShape shape{pick(random, {1, 2, 5}), pick(random, {1, 2, 3}), pick(random, {1, 2}),
                            pick(random, {1, 3, 8}), pick(random, {1, 2}),    i % 3};
    Case linear = linear_case(random, shape, types, 200 + i);
    Case depthwise = depthwise_case(random, random_groups(random), i % 3, types, 200 + i);
    const std::int64_t moved = i % 4 / 2 + i % 2;
    const auto set_stages = [&](design::PipelineStages& stages) {
      stages = {moved, i / 2 % (moved + 1), i / 4 % 3};
    };
    change<design::LinearModule>(linear, set_stages);
    change<design::DepthwiseModule>(depthwise, set_stages);
    cases.push_back(std::move(linear));
    cases.push_back(std::move(depthwise));
  }
  cases.push_back(linear_case(random, {72, 3, 1, 8, 2, 0}, types, 220));  // from block memory
  change<design::LinearModule>(cases.back(),
                               [](design::LinearModule& module) { module.operand_stages = 1; });
  for (int i = 0; i < 6; ++i)
    if (auto test = packed_linear(random, types, 230 + i)) {
      change<design::LinearModule>(
          *test, [&](design::LinearModule& module) { module.product_stages = 1 + i % 2; });
      cases.push_back(std::move(*test));
    }
  check_cases(cases, kMatrixFrames);
}

}  // namespace
}  // namespace mase::rtl_test
