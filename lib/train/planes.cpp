// The loops over planes; the build vectorises them (lib/CMakeLists.txt).
#include "train/planes.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace mase::train {
namespace {

constexpr std::size_t lanes = 16, block = 1024;

/// Sum of value(i) over one plane: in `lanes` interleaved float sums over `block` elements, so that
/// the order of additions is fixed and vectorises, and in double beyond.
template <class F>
double plane_sum(std::size_t size, F&& value) {
  double sum = 0;
  for (std::size_t first = 0; first < size; first += block) {
    const std::size_t end = std::min(size, first + block),
                      whole = first + (end - first) / lanes * lanes;
    std::array<float, lanes> partial{};
    for (std::size_t i = first; i < whole; i += lanes)
      for (std::size_t lane = 0; lane < lanes; ++lane) partial[lane] += value(i + lane);
    for (std::size_t i = whole; i < end; ++i) partial[i - whole] += value(i);
    for (const float part : partial) sum += static_cast<double>(part);
  }
  return sum;
}

/// Per channel: the sum of value(place, channel) over its planes.
template <class F>
std::vector<double> channel_sums(const Planes& planes, F&& value) {
  std::vector<double> sums(planes.channels, 0.0);
  for (std::size_t p = 0; p < planes.count(); ++p) {
    const std::size_t first = p * planes.size(), c = p % planes.channels;
    sums[c] += plane_sum(planes.size(), [&](std::size_t i) { return value(first + i, c); });
  }
  return sums;
}

/// The larger, or the one that is NaN. (No branches, here and below, so that loops vectorise.)
float largest(float a, float b) { return (b <= a) | (a != a) ? a : b; }

}  // namespace

void batch_norm_forward(const float* in, const Planes& planes, const float* weight,
                        const float* bias, double epsilon, float* out,
                        BatchStatistics& statistics) {
  const auto count = static_cast<double>(planes.images * planes.size());
  const auto sums = channel_sums(planes, [in](std::size_t i, std::size_t) { return in[i]; });
  statistics.mean.resize(planes.channels);
  for (std::size_t c = 0; c < planes.channels; ++c)
    statistics.mean[c] = static_cast<float>(sums[c] / count);
  const float* mean = statistics.mean.data();
  const auto squares = channel_sums(planes, [in, mean](std::size_t i, std::size_t c) {
    return (in[i] - mean[c]) * (in[i] - mean[c]);
  });
  finish_statistics(squares, count, epsilon, statistics);
  for (std::size_t p = 0; p < planes.count(); ++p) {
    const std::size_t c = p % planes.channels;
    const float by = statistics.scale[c] * (weight ? weight[c] : 1.0f);
    const float plus = (bias ? bias[c] : 0.0f) - mean[c] * by;
    const float* from = in + p * planes.size();
    float* __restrict to = out + p * planes.size();
    for (std::size_t i = 0; i < planes.size(); ++i) to[i] = from[i] * by + plus;
  }
}

void batch_norm_backward(const float* gradient, const float* in, const Planes& planes,
                         const float* weight, const BatchStatistics& statistics, float* into,
                         float* weight_gradient, float* bias_gradient) {
  const float* mean = statistics.mean.data();
  const auto count = static_cast<double>(planes.images * planes.size());
  const auto sums = channel_sums(planes, [=](std::size_t i, std::size_t) { return gradient[i]; });
  const auto products = channel_sums(
      planes, [=](std::size_t i, std::size_t c) { return (in[i] - mean[c]) * gradient[i]; });
  const InputGradient rule =
      input_gradient(sums, products, count, weight, statistics, weight_gradient, bias_gradient);
  for (std::size_t p = 0; into && p < planes.count(); ++p) {
    const std::size_t c = p % planes.channels;
    const float by = rule.factor[c], along = rule.slope[c], less = rule.average[c], at = mean[c];
    const float* dy = gradient + p * planes.size();
    const float* x = in + p * planes.size();
    float* __restrict to = into + p * planes.size();
    for (std::size_t i = 0; i < planes.size(); ++i)
      to[i] = (dy[i] - less - (x[i] - at) * along) * by;
  }
}

void max_pool_forward(const float* in, const Planes& planes, float* out) {
  const std::size_t rows = planes.height / 2, columns = planes.width / 2;
  std::vector<float> higher(2 * columns);  // of the two rows
  float* __restrict most = higher.data();
  for (std::size_t p = 0; p < planes.count(); ++p)
    for (std::size_t y = 0; y < rows; ++y) {
      const float* top = in + p * planes.size() + 2 * y * planes.width;
      const float* low = top + planes.width;
      float* __restrict to = out + (p * rows + y) * columns;
      for (std::size_t x = 0; x < 2 * columns; ++x) most[x] = largest(top[x], low[x]);
      for (std::size_t x = 0; x < columns; ++x) to[x] = largest(most[2 * x], most[2 * x + 1]);
    }
}

void max_pool_backward(const float* gradient, const float* in, const float* out,
                       const Planes& planes, float* into) {
  const std::size_t rows = planes.height / 2, columns = planes.width / 2;
  if (planes.height % 2 || planes.width % 2)
    std::fill(into, into + planes.count() * planes.size(), 0.0f);
  for (std::size_t p = 0; p < planes.count(); ++p)
    for (std::size_t y = 0; y < rows; ++y) {
      const std::size_t first = p * planes.size() + 2 * y * planes.width;
      const float* top = in + first;
      const float* low = top + planes.width;
      float* __restrict into_top = into + first;
      float* __restrict into_low = into_top + planes.width;
      const std::size_t place = (p * rows + y) * columns;
      for (std::size_t x = 0; x < columns; ++x) {
        const float most = out[place + x], given = gradient[place + x];
        const bool a = top[2 * x] == most, b = top[2 * x + 1] == most, c = low[2 * x] == most;
        into_top[2 * x] = a ? given : 0.0f;
        into_top[2 * x + 1] = b & !a ? given : 0.0f;
        into_low[2 * x] = c & !a & !b ? given : 0.0f;
        into_low[2 * x + 1] = a | b | c ? 0.0f : given;
      }
    }
}

}  // namespace mase::train
