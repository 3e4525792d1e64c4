// SPDX-License-Identifier: Apache-2.0
// Element formats as docs/formats.md defines them, in 113-bit floating point.
#include <algorithm>
#include <functional>
#include <map>

#include "reference.hpp"
#include "reference_evaluation.hpp"

namespace mase::test {
namespace {

/// A minifloat's bits and its largest number.
struct Minifloat {
  int mantissa = 3, bias = 7;
  Real most = 448;
};

Real magnitude_of(Real number) { return number < 0 ? -number : number; }

/// The exponent of the leading bit.
int exponent_of(Real magnitude) {
  int exponent = 0;
  for (; magnitude >= 2; magnitude /= 2) ++exponent;
  for (; magnitude < 1; magnitude *= 2) --exponent;
  return exponent;
}

const Minifloat& named_minifloat(std::string_view name) {
  static const std::map<std::string, Minifloat, std::less<>> named{{"e4m3", {3, 7, 448}},
                                                                   {"e5m2", {2, 15, 57344}},
                                                                   {"e3m2", {2, 3, 28}},
                                                                   {"e2m3", {3, 1, Real(7.5)}},
                                                                   {"e2m1", {1, 1, 6}}};
  return named.find(name)->second;
}

Minifloat minifloat_of(const formats::Format& format) {
  if (format.name().starts_with("fp")) return named_minifloat(format.name().substr(4));
  // minifloat_ieee with inf_nan none: all codes are numbers.
  const Tree fields = format.fields();
  const auto width = static_cast<int>(fields.at("width").as_int()),
             exponents = static_cast<int>(fields.at("exponent_width").as_int());
  const int mantissa = width - exponents - 1, bias = (1 << (exponents - 1)) - 1;
  const Real top = power_of_two((1 << exponents) - 1 - bias);
  return {mantissa, bias, top * (2 - power_of_two(-mantissa))};
}

Real minifloat(Real x, const Minifloat& spec) {
  const Real magnitude = magnitude_of(x);
  if (magnitude >= spec.most) return x < 0 ? -spec.most : spec.most;
  if (magnitude == 0) return 0;
  const int exponent = std::max(exponent_of(magnitude), 1 - spec.bias);
  const Real step = power_of_two(exponent - spec.mantissa);
  const Real rounded = nearest_even(magnitude / step) * step;
  const Real inside = std::min(rounded, spec.most);
  return x < 0 ? -inside : inside;
}

/// The nearest power of two in the log domain; half of the least magnitude and below is 0.
Real logarithmic(Real x, int bias, int highest) {
  const Real magnitude = magnitude_of(x);
  if (magnitude <= power_of_two(-bias)) return 0;
  if (magnitude >= power_of_two(highest))
    return x < 0 ? -power_of_two(highest) : power_of_two(highest);
  const int below = exponent_of(magnitude);
  const Real part = magnitude / power_of_two(below);
  const int exponent = std::clamp(part * part > 2 ? below + 1 : below, 1 - bias, highest);
  return x < 0 ? -power_of_two(exponent) : power_of_two(exponent);
}

Real power(Real x, const formats::Format& format) {
  const auto width = static_cast<int>(format.fields().at("width").as_int());
  const int bias = (1 << (width - 2)) - 1;
  return logarithmic(x, bias, (1 << (width - 1)) - 1 - bias);
}

/// Without a hidden bit: the significand is below 1.
Real unhidden(Real x, const formats::Format& format) {
  const Tree fields = format.fields();
  const auto width = static_cast<int>(fields.at("width").as_int()),
             exponents = static_cast<int>(fields.at("exponent_width").as_int());
  const int mantissa = width - exponents - 1, bias = (1 << (exponents - 1)) - 1;
  const int highest = (1 << exponents) - 1 - bias;
  const Real most = power_of_two(highest) * (1 - power_of_two(-mantissa));
  const Real magnitude = magnitude_of(x);
  if (magnitude == 0) return 0;
  if (magnitude >= most) return x < 0 ? -most : most;
  const int exponent = std::min(std::max(exponent_of(magnitude) + 1, -bias), highest);
  const Real step = power_of_two(exponent - mantissa);
  const Real inside = std::min(nearest_even(magnitude / step) * step, most);
  return x < 0 ? -inside : inside;
}

/// Plane after plane, each the sign of what is left.
Real planes(Real x, const formats::Format& format) {
  const Tree fields = format.fields();
  Real left = x, sum = 0;
  for (const Tree& mean : fields.at("means").as_list()) {
    const auto plane = static_cast<Real>(left < 0 ? -mean.as_double() : mean.as_double());
    sum += plane;
    left -= plane;
  }
  return sum;
}

Real sign_beyond(Real x, Real threshold) { return x > threshold ? 1 : x < -threshold ? -1 : 0; }

/// Numbers with a factor, which is a float32 number, and by itself exact.
struct Slice {
  std::vector<Real> numbers;
  Real factor = 1;
};

/// Whole numbers up to `high` in steps of the largest magnitude over it.
Slice integers(std::vector<Real> x, int width) {
  double peak = 0;
  for (const Real one : x) peak = std::max(peak, static_cast<double>(magnitude_of(one)));
  const double high = static_cast<double>(power_of_two(width - 1)) - 1;
  const Real step = peak == 0 ? Real(1) : static_cast<Real>(static_cast<float>(peak / high));
  for (Real& one : x) one = std::clamp<Real>(nearest_even(one / step), -high, high);
  return {std::move(x), step};
}

/// Signs of what is above a threshold, times the mean of these magnitudes.
Slice signs(std::vector<Real> x, double threshold, bool has_zero) {
  double sum = 0, count = 0;
  for (Real& one : x) {
    const auto magnitude = static_cast<double>(magnitude_of(one));
    const bool counts = !has_zero || magnitude > threshold;
    if (counts) sum += magnitude, ++count;
    one = !counts ? 0 : one < 0 ? -1 : 1;
  }
  return {std::move(x), static_cast<float>(count == 0 ? 0 : sum / count)};
}

Slice slice_of(std::vector<Real> x, const formats::Format& format) {
  const Tree fields = format.fields();
  if (format.name() == "scale_integer")
    return integers(std::move(x), static_cast<int>(fields.at("width").as_int()));
  if (format.name() == "binary") return signs(std::move(x), 0, false);
  return signs(std::move(x), fields.at("threshold").as_double(), true);
}

/// How the blocks of a format get their exponents, and what elements are.
struct Blocks {
  int emax = 0, fraction_bits = 0;
  Real most = 0;  ///< of the elements at exponent 0
  int least = 0, greatest = 0;
  std::function<Real(Real)> element;  ///< relative to the exponent
};

/// Whole numbers of so many bits, the last of which stands for 2^-frac.
std::function<Real(Real)> signed_magnitudes(int width, int frac) {
  const Real high = power_of_two(width - 1) - 1, unit = power_of_two(frac);
  return [=](Real x) { return std::clamp<Real>(nearest_even(x * unit), -high, high) / unit; };
}

std::function<Real(Real)> minifloats(const Minifloat& spec) {
  return [=](Real x) { return minifloat(x, spec); };
}

Blocks integer_blocks(int width, int least, int greatest) {
  return {0,     width - 2, 2 - power_of_two(2 - width),
          least, greatest,  signed_magnitudes(width, width - 2)};
}

/// docs/formats.md, section 3: the table of formats.
Blocks blocks_of(const formats::Format& format) {
  const Tree fields = format.fields();
  const auto field = [&](const char* name) { return static_cast<int>(fields.at(name).as_int()); };
  const std::string_view name = format.name();
  const auto twos = [&](const char* bits) { return 1 << (field(bits) - 1); };
  if (name == "mxint_hardware")
    return integer_blocks(field("width"), -twos("exponent_width"), twos("exponent_width") - 1);
  if (name == "block_fp") {  // E = X + 1
    const int bias = field("exponent_bias");
    return integer_blocks(field("width"), -bias - 1, (1 << field("exponent_width")) - 2 - bias);
  }
  if (name == "block_minifloat") {  // the top binade has exponent X
    const int width = field("width"), mantissa = width - field("exponent_width") - 1;
    const int bias = (1 << field("exponent_width")) - 1;
    const Real most = 2 - power_of_two(-mantissa);
    return {0,
            mantissa,
            most,
            -twos("exponent_bias_width"),
            twos("exponent_bias_width") - 1,
            minifloats({mantissa, bias, most})};
  }
  if (name == "block_log") {  // the greatest power has exponent X
    const int bias = (1 << (field("width") - 1)) - 1;
    return {0, 0, 1, -twos("exponent_bias_width"), twos("exponent_bias_width") - 1, [=](Real x) {
              return logarithmic(x, bias, 0);
            }};
  }
  const int reach = twos("scale_bits") - 1;
  const auto bound = [&](const char* bound_name, int otherwise) {
    const Tree& given = fields.at(bound_name);
    return given.is_int() ? static_cast<int>(given.as_int()) : otherwise;
  };
  const int least = bound("exponent_min", -reach), greatest = bound("exponent_max", reach);
  if (name.starts_with("mxint")) {  // mxint8, mxint4, mxint2
    const std::string bits(name.substr(5));
    return integer_blocks(bits.empty() ? field("width") : std::stoi(bits), least, greatest);
  }
  const Minifloat& spec = named_minifloat(name == "mxfp4" ? "e2m1" : name.substr(6));
  return {exponent_of(spec.most), spec.mantissa, spec.most, least, greatest, minifloats(spec)};
}

/// The scale rule; a quotient by 0 counts as the greatest number.
int exponent_by_rule(Real peak, const Blocks& blocks, const formats::Format& format) {
  if (peak == 0) return blocks.least;  // of a block of zeros
  if (peak > power_of_two(blocks.greatest + 40)) return blocks.greatest;
  const auto of = [&] {
    const int below = exponent_of(peak);
    const Tree fields = format.fields();
    const Tree* given = fields.find("scale_rule");
    if (format.name() == "block_log") {
      const Real part = peak / power_of_two(below);
      return part * part > 2 ? below + 1 : below;
    }
    const std::string rule = given ? given->as_string() : "floor";
    if (rule == "floor") return below - blocks.emax;
    if (rule == "ceil") return below - blocks.emax + (peak == power_of_two(below) ? 0 : 1);
    if (rule == "even")
      return exponent_of(peak + power_of_two(below - blocks.fraction_bits - 1)) - blocks.emax;
    const Real quotient = static_cast<float>(peak / blocks.most);  // rceil
    const int floor = exponent_of(quotient);
    return quotient == power_of_two(floor) ? floor : floor + 1;
  };
  return std::clamp(of(), blocks.least, blocks.greatest);
}

/// How many elements blocks have along each dimension.
Shape block_shape(const formats::Format& format, const Shape& shape) {
  const Tree fields = format.fields();
  const std::size_t rank = shape.size();
  if (const Tree* line = fields.find("block_dim")) {
    Shape block(rank, 1);
    const std::int64_t dim = line->as_int();
    block[at(dim < 0 ? dim + static_cast<Index>(rank) : dim)] = fields.at("block_size").as_int();
    return block;
  }
  const Tree* tile = fields.find("parallelism");
  Shape block(rank, tile ? 1 : -1);
  const auto& sizes = (tile ? *tile : fields.at("block_size")).as_list();
  for (std::size_t i = 0; i < std::min(rank, sizes.size()); ++i)
    block[rank - 1 - i] = sizes[sizes.size() - 1 - i].as_int();
  if (!tile && rank >= 2 && fields.at("skip_first_dim") == Tree(true)) block[0] = 1;
  for (std::size_t d = 0; d < rank; ++d)
    if (block[d] < 0 || block[d] > shape[d]) block[d] = shape[d];
  return block;
}

/// Every element's block, as a number.
std::vector<std::vector<Index>> places_of_blocks(const Shape& block, const Shape& shape) {
  std::map<Shape, std::vector<Index>> blocks;
  Shape place(shape.size(), 0);
  for (Index i = 0; i < numel(shape); ++i) {
    Shape key = place;
    for (std::size_t d = 0; d < key.size(); ++d) key[d] /= block[d];
    blocks[key].push_back(i);
    for (std::size_t d = shape.size(); d-- > 0 && ++place[d] == shape[d];) place[d] = 0;
  }
  std::vector<std::vector<Index>> places;
  for (auto& [key, elements] : blocks) places.push_back(std::move(elements));
  return places;
}

/// docs/formats.md, section 3: float32 operations in its order; without a tensor's scale it is 1.
struct Nvfp4 {
  float t = 1;

  static float rounded(Real x) { return static_cast<float>(x); }
  Real scale(Real peak) const {
    const Real a = rounded(rounded(peak / 6) / Real(t));
    return minifloat(std::clamp<Real>(a, power_of_two(-6), 448), named_minifloat("e4m3"));
  }
  Real element(Real x, Real scale) const {
    const Real reciprocal = rounded(rounded(1 / Real(t)) / scale);
    return minifloat(rounded(x * reciprocal), named_minifloat("e2m1"));
  }
  Real number(Real x, Real scale) const { return rounded(element(x, scale) * rounded(t * scale)); }
  Real exact_number(Real x, Real scale) const { return element(x, scale) * scale * t; }
};

Nvfp4 nvfp4_of(const formats::Format& format) {
  const Tree scale = format.fields().at("tensor_scale");
  return scale.is_string() ? Nvfp4{} : Nvfp4{static_cast<float>(scale.as_double())};
}

bool is_nvfp4(const formats::Format& format) { return format.name() == "nvfp4"; }

/// The format with the scale that follows from a tensor, where it is not given.
formats::Format with_tensor_scale(const formats::Format& format, const RealTensor& tensor) {
  Tree fields = format.fields();
  if (!is_nvfp4(format) || fields.at("tensor_scale") != Tree("NA")) return format;
  Real peak = 0;
  for (const Real one : tensor.values) peak = std::max(peak, magnitude_of(one));
  fields["tensor_scale"] = peak == 0 ? 1.0 : static_cast<double>(Nvfp4::rounded(peak / 2688));
  Diagnostics none;
  return *formats::find_format("nvfp4")->make(fields, none);
}

RealTensor in_blocks(RealTensor tensor, const formats::Format& given, bool exact) {
  const formats::Format format = with_tensor_scale(given, tensor);
  for (const auto& block : blocks_in(format, tensor.shape)) {
    Real peak = 0;
    for (const Index i : block) peak = std::max(peak, magnitude_of(tensor.values[at(i)]));
    const Real scale = scale_for(peak, format);
    for (const Index i : block) {
      Real& one = tensor.values[at(i)];
      one = exact && is_nvfp4(format) ? nvfp4_of(format).exact_number(one, scale)
                                      : at_scale(one, scale, format);
    }
  }
  return tensor;
}

}  // namespace

bool shares_scales(const formats::Format& format) {
  const std::string_view name = format.name();
  return name.starts_with("mx") || name.starts_with("block_") || is_nvfp4(format);
}

std::vector<std::vector<Index>> blocks_in(const formats::Format& format, const Shape& shape) {
  return places_of_blocks(block_shape(format, shape), shape);
}

Real scale_for(Real peak, const formats::Format& format) {
  if (is_nvfp4(format)) return nvfp4_of(format).scale(peak);
  return power_of_two(exponent_by_rule(peak, blocks_of(format), format));
}

Real at_scale(Real number, Real scale, const formats::Format& format) {
  if (is_nvfp4(format)) return nvfp4_of(format).number(number, scale);
  return blocks_of(format).element(number / scale) * scale;
}

bool scales_elements(const formats::Format& format) {
  const Tree fields = format.fields();
  const auto is_set = [&](const char* field) {
    const Tree* value = fields.find(field);
    return value && *value == Tree(true);
  };
  return shares_scales(format) || format.name() == "scale_integer" || is_set("scaled") ||
         is_set("scaling_factor");
}

RealTensor scaled(RealTensor tensor, const formats::Format& format, bool exact) {
  if (shares_scales(format)) return in_blocks(std::move(tensor), format, exact);
  const bool rows = format.name() == "scale_integer";
  const auto size = rows ? static_cast<std::size_t>(tensor.shape.back())
                         : tensor.values.size() / static_cast<std::size_t>(tensor.shape.front());
  for (auto first = tensor.values.begin(); first != tensor.values.end();
       first += static_cast<std::ptrdiff_t>(size)) {
    const Slice slice =
        slice_of(std::vector<Real>(first, first + static_cast<std::ptrdiff_t>(size)), format);
    std::ranges::transform(slice.numbers, first, [&](Real one) { return one * slice.factor; });
  }
  return tensor;
}

Real element(Real number, const formats::Format& format) {
  if (format.name() == "minifloat_denorm") return unhidden(number, format);
  if (format.name() == "binary_residual") return planes(number, format);
  if (format.name() == "log") return power(number, format);
  if (format.name() == "binary") return number >= 0 ? 1 : -1;
  if (format.name() == "ternary")
    return sign_beyond(number, static_cast<Real>(format.fields().at("threshold").as_double()));
  return minifloat(number, minifloat_of(format));
}

}  // namespace mase::test
