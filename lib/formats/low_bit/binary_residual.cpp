// SPDX-License-Identifier: Apache-2.0
// The format `binary_residual` over tensors.
#include "formats/low_bit/binary_residual.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "base/text.hpp"
#include "formats/encoding.hpp"
#include "formats/low_bit/residual_kernel.hpp"

namespace mase::formats {
namespace {

std::string call(const char* name, const std::string& first, double second) {
  return "torch." + std::string(name) + "(" + first + ", " + double_text(second) + ")";
}

// The sign of `rest` times a mean, as a float64 tensor.
std::string exact_plane(double mean) {
  return "torch.where(torch.lt(rest, 0.0), " + call("full_like", "rest", -mean) + ", " +
         call("full_like", "rest", mean) + ")";
}

std::string reference_plane(double mean) {
  return call("mul", "held + (torch.sign(held) - held)", static_cast<float>(mean));
}

std::array<float, 256> values_of_codes(const ResidualSpec& spec) {
  std::array<float, 256> values{};
  for (std::uint32_t code = 0; code < (1U << spec.means.size()); ++code)
    values[code] = residual_value(spec, code);
  return values;
}

[[noreturn]] void refuse_first_nan(std::span<const float> in, std::size_t from) {
  const auto is_nan = [](float x) { return std::isnan(x); };
  const auto nan = std::find_if(in.begin() + static_cast<std::ptrdiff_t>(from), in.end(), is_nan);
  refuse_nan(static_cast<std::size_t>(nan - in.begin()), "binary_residual");
}

}  // namespace

kernels::ResidualMeans kernels::residual_means(const ResidualSpec& spec) {
  ResidualMeans means;
  means.levels = spec.means.size();
  std::ranges::copy(spec.means, means.exact.begin());
  std::ranges::transform(spec.means, means.reference.begin(),
                         [](double mean) { return static_cast<float>(mean); });
  return means;
}

void BinaryResidual::resolve(const Tree& given, Diagnostics& diagnostics) {
  if (means.empty())
    for (int level = 0; level < levels; ++level)
      means.push_back(2.0 * (levels - level) / (levels * (levels + 1.0)));
  if (static_cast<int>(means.size()) != levels)
    diagnostics.error(place_of(given, "means"),
                      std::to_string(means.size()) + " means for " + std::to_string(levels) +
                          " levels; give one for each, or leave 'means' out");
}

ResidualSpec BinaryResidual::spec() const {
  ResidualSpec spec{{}, profile_value()};
  for (const double mean : means) spec.means.push_back(std::fabs(mean));
  return spec;
}

Range BinaryResidual::range() const {
  const ResidualSpec residual = spec();
  const double all = std::accumulate(residual.means.begin(), residual.means.end(), 0.0);
  return {-all, all};
}

void BinaryResidual::quantize(std::span<const float> in, std::span<float> out, const Shape&) const {
  const ResidualSpec residual = spec();
  const auto& kernels = kernels::residual_kernels(simd::best_isa());
  const auto run = residual.profile == Profile::exact ? kernels.exact : kernels.reference;
  run(kernels::residual_means(residual), in.data(), out.data(), in.size());
}

Encoded BinaryResidual::encode(std::span<const float> in, const Shape&) const {
  const ResidualSpec residual = spec();
  const auto& kernels = kernels::residual_kernels(simd::best_isa());
  const auto encode =
      residual.profile == Profile::exact ? kernels.encode_exact : kernels.encode_reference;
  const kernels::ResidualMeans all = kernels::residual_means(residual);
  const auto make = [&](std::size_t first, std::span<std::uint32_t> codes) {
    if (encode(all, in.data() + first, codes.data(), codes.size())) refuse_first_nan(in, first);
  };
  return {encode_in_pieces(levels, in.size(), make), {}, {}};
}

void BinaryResidual::decode(const Encoded& in, std::span<float> out, const Shape&) const {
  check_codes(in.codes, levels, out.size());
  const ResidualSpec residual = spec();
  const auto values = values_of_codes(residual);
  decode_in_pieces(in.codes, [&](std::size_t first, std::span<const std::uint32_t> codes) {
    for (std::size_t i = 0; i < codes.size(); ++i) out[first + i] = values[codes[i]];
  });
}

std::optional<Decoding> BinaryResidual::decoding(const Shape&) const {
  const ResidualSpec residual = spec();
  return Decoding{.bits = levels, .elements = value_table(levels, [&](std::uint32_t code) {
                                    return residual_value(residual, code);
                                  })};
}

std::string BinaryResidual::torchscript(int) const {
  const ResidualSpec residual = spec();
  const bool exact = residual.profile == Profile::exact;
  std::string text = exact ? "  rest = x.to(torch.float64)\n" : "  rest = x\n";
  text += "  total = torch.zeros_like(rest)\n";
  for (const double mean : residual.means) {
    if (!exact) text += "  held = torch.clamp(rest, -1.0, 1.0)\n";
    text += "  plane = " + (exact ? exact_plane(mean) : reference_plane(mean)) + "\n";
    text += "  total = total + plane\n  rest = rest - plane\n";
  }
  return text + "  return torch.where(torch.isnan(x), x, total.to(torch.float32))\n";
}

void binary_residual_planes(const ResidualSpec& spec, std::span<const float> in,
                            std::span<float> out) {
  const std::size_t levels = spec.means.size();
  MASE_CHECK(out.size() == levels * in.size(), "planes and elements differ in number");
  std::vector<float> planes(levels);
  for (std::size_t i = 0; i < in.size(); ++i) {
    residual_planes(spec, in[i], planes);
    for (std::size_t level = 0; level < levels; ++level) out[level * in.size() + i] = planes[level];
  }
}

FormatRow binary_residual_row() { return format_row<BinaryResidual>(); }

}  // namespace mase::formats
