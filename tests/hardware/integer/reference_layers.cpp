// SPDX-License-Identifier: Apache-2.0
// Layers and pools of the reference evaluator.
#include <algorithm>
#include <array>

#include "reference_evaluation.hpp"

namespace mase::test {

RealTensor Evaluation::linear() const {
  const RealTensor x = input("input"), w = parameter("weight");
  RealTensor y{x.shape, {}};
  y.shape.back() = w.shape[0];
  const std::vector<Real> bias = has("bias") ? parameter("bias").values : std::vector<Real>();
  for (Index row = 0; row < numel(x.shape) / w.shape[1]; ++row)
    for (Index o = 0; o < w.shape[0]; ++o) {
      Real sum = bias.empty() ? Real(0) : bias[at(o)];
      for (Index i = 0; i < w.shape[1]; ++i)
        sum += w.values[at(o * w.shape[1] + i)] * x.values[at(row * w.shape[1] + i)];
      y.values.push_back(sum);
    }
  return y;
}

/// The element of a tensor with dimensions of 1 at `element` of row-major `shape`.
static Index stretched(const Shape& shape, const Shape& own, Index element) {
  Index index = 0, stride = 1;
  for (std::size_t d = shape.size(); d-- > 0; element /= shape[d]) {
    index += own[d] == 1 ? 0 : element % shape[d] * stride;
    stride *= own[d];
  }
  return index;
}

/// A vector as a matrix with a dimension of 1 at `place`, and dimensions of 1 in front up to
/// `rank`.
static RealTensor as_matrices(RealTensor x, Index place, std::size_t rank) {
  if (x.shape.size() == 1) x.shape.insert(x.shape.begin() + place, 1);
  while (x.shape.size() < rank) x.shape.insert(x.shape.begin(), 1);
  return x;
}

RealTensor Evaluation::product(const std::string& one, const std::string& other) const {
  RealTensor a = input(one), b = input(other, "weight");
  const std::size_t rank = std::max(a.shape.size(), b.shape.size());
  a = as_matrices(std::move(a), 0, rank);
  b = as_matrices(std::move(b), 1, rank);
  const Shape a_batch(a.shape.begin(), a.shape.end() - 2),
      b_batch(b.shape.begin(), b.shape.end() - 2);
  Shape batch;
  for (std::size_t d = 0; d + 2 < rank; ++d) batch.push_back(std::max(a.shape[d], b.shape[d]));
  RealTensor y{node_->info.shape, {}};
  const Index rows = a.shape.end()[-2], inputs = a.shape.end()[-1], outputs = b.shape.end()[-1];
  for (Index n = 0; n < numel(batch); ++n)
    for (Index row = 0; row < rows; ++row)
      for (Index o = 0; o < outputs; ++o) {
        Real sum = 0;
        for (Index i = 0; i < inputs; ++i)
          sum += a.values[at((stretched(batch, a_batch, n) * rows + row) * inputs + i)] *
                 b.values[at((stretched(batch, b_batch, n) * inputs + i) * outputs + o)];
        y.values.push_back(sum);
      }
  const Shape frame(y.shape.begin() + 1, y.shape.end());
  y.shape[0] = static_cast<Index>(y.values.size()) / numel(frame);
  return y;
}

RealTensor Evaluation::added_product(const std::string& one, const std::string& other) const {
  RealTensor y = product(one, other);
  const RealTensor bias = input("self", "bias");
  const Real alpha = number("alpha", 1);
  for (std::size_t i = 0; i < y.values.size(); ++i)
    y.values[i] = alpha * y.values[i] + bias.values[i % bias.values.size()];
  return y;
}

/// [N, C, L] as [N, C, L, 1].
static RealTensor as_images(RealTensor x) {
  if (x.shape.size() == 3) x.shape.push_back(1);
  return x;
}

static Shape two(Shape values, Index filler) {
  if (values.size() == 1) values.push_back(filler);
  return values;
}

/// How a kernel slides over one dimension.
struct Slide {
  Index kernel, stride, dilation, before, after;
  Index reach() const { return (kernel - 1) * dilation + 1; }
  /// As torch has it: with `ceil` the last stride may be incomplete, but begins before `after`.
  Index out(Index size, bool ceil) const {
    Index count = (size + before + after - reach() + (ceil ? stride - 1 : 0)) / stride + 1;
    if (ceil && (count - 1) * stride >= size + before) --count;
    return count;
  }
  Index place(Index o, Index k) const { return o * stride + k * dilation - before; }
};

RealTensor Evaluation::convolution() const {
  const RealTensor x = as_images(input("input")), w = as_images(parameter("weight"));
  const std::size_t dims = node_->info.shape.size() - 2;
  const Shape stride = two(list("stride", dims, 1), 1);
  const Shape dilation = two(list("dilation", dims, 1), 1);
  const Value* mode = argument("padding");
  const bool named = mode && mode->kind() == Value::Kind::string;
  const Shape padding = named ? Shape{0, 0} : two(list("padding", dims, 0), 0);
  std::array<Slide, 2> slide;
  for (std::size_t d = 0; d < 2; ++d) {
    slide[d] = {w.shape[d + 2], stride[d], dilation[d], padding[d], padding[d]};
    if (!named || mode->as_string() != "same") continue;
    slide[d].before = (slide[d].reach() - 1) / 2;
    slide[d].after = slide[d].reach() - 1 - slide[d].before;
  }
  const Index groups = whole("groups", 1), outputs = w.shape[0], taps = w.shape[1];
  const std::vector<Real> bias = has("bias") ? parameter("bias").values : std::vector<Real>();
  const Index h = x.shape[2], v = x.shape[3];
  const Index oh = slide[0].out(h, false), ow = slide[1].out(v, false);
  RealTensor y{{x.shape[0], outputs, oh, ow}, {}};
  for (Index n = 0; n < x.shape[0]; ++n)
    for (Index o = 0; o < outputs; ++o)
      for (Index r = 0; r < oh; ++r)
        for (Index s = 0; s < ow; ++s) {
          Real sum = bias.empty() ? Real(0) : bias[at(o)];
          for (Index c = 0; c < taps; ++c)
            for (Index i = 0; i < w.shape[2]; ++i)
              for (Index j = 0; j < w.shape[3]; ++j) {
                const Index a = slide[0].place(r, i), b = slide[1].place(s, j);
                if (a < 0 || a >= h || b < 0 || b >= v) continue;
                const Index channel = o / (outputs / groups) * taps + c;
                sum += w.values[at(((o * taps + c) * w.shape[2] + i) * w.shape[3] + j)] *
                       x.values[at(((n * x.shape[1] + channel) * h + a) * v + b)];
              }
          y.values.push_back(sum);
        }
  if (dims == 1) y.shape.pop_back();
  return y;
}

/// Every input adds its multiple of the kernel to the result, as torch defines it.
RealTensor Evaluation::transposed_convolution() const {
  const RealTensor x = as_images(input("input")), w = as_images(parameter("weight"));
  const std::size_t dims = node_->info.shape.size() - 2;
  const Shape stride = two(list("stride", dims, 1), 1);
  const Shape padding = two(list("padding", dims, 0), 0);
  const Shape dilation = two(list("dilation", dims, 1), 1);
  const Index taps = w.shape[1], inputs = x.shape[1], height = x.shape[2], width = x.shape[3];
  const Index group = inputs / whole("groups", 1);
  RealTensor y = as_images({node_->info.shape, {}});
  y.shape[0] = x.shape[0];
  const Index outputs = y.shape[1], h = y.shape[2], v = y.shape[3];
  y.values.resize(at(numel(y.shape)), Real(0));
  if (has("bias"))
    for (std::size_t i = 0; i < y.values.size(); ++i)
      y.values[i] = parameter("bias").values[i / at(h * v) % at(outputs)];
  for (Index i = 0; i < numel(x.shape); ++i)
    for (Index k = 0; k < taps * w.shape[2] * w.shape[3]; ++k) {
      const Index image = i / width / height, channel = image % inputs;
      const Index tap = k / w.shape[3];
      const Index r = i / width % height * stride[0] + tap % w.shape[2] * dilation[0] - padding[0];
      const Index s = i % width * stride[1] + k % w.shape[3] * dilation[1] - padding[1];
      if (r < 0 || r >= h || s < 0 || s >= v) continue;
      const Index output = channel / group * taps + tap / w.shape[2];
      y.values[at(((image / inputs * outputs + output) * h + r) * v + s)] +=
          x.values[at(i)] * w.values[at(channel * taps * w.shape[2] * w.shape[3] + k)];
    }
  if (dims == 1) y.shape.pop_back();
  return y;
}

RealTensor Evaluation::batch_norm() const {
  RealTensor x = input("input");
  const Index inner = numel(Shape(x.shape.begin() + 2, x.shape.end()));
  const auto w = parameter("weight").values, b = parameter("bias").values;
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    const std::size_t c = at(static_cast<Index>(i) / inner % x.shape[1]);
    x.values[i] = x.values[i] * w[c] + b[c];
  }
  return x;
}

RealTensor Evaluation::pool(bool maximum) const {
  const RealTensor x = as_images(input("self"));
  const std::size_t dims = node_->info.shape.size() - 2;
  const Shape kernel_given = list("kernel_size", dims, 1), kernel = two(kernel_given, 1);
  Shape stride = list("stride", dims, 0);
  stride = two(stride[0] == 0 ? kernel_given : stride, 1);
  const Shape padding = two(list("padding", dims, 0), 0);
  const Shape dilation = two(list("dilation", dims, 1), 1);
  const Value* mode = argument("ceil_mode");
  const bool ceil = mode && mode->as_bool();
  const Slide down{kernel[0], stride[0], dilation[0], padding[0], padding[0]};
  const Slide across{kernel[1], stride[1], dilation[1], padding[1], padding[1]};
  const Index h = x.shape[2], v = x.shape[3], oh = down.out(h, ceil), ow = across.out(v, ceil);
  const Value* counted = argument("count_include_pad");
  const bool with_padding = !counted || counted->as_bool();
  RealTensor y{{x.shape[0], x.shape[1], oh, ow}, {}};
  for (Index image = 0; image < x.shape[0] * x.shape[1]; ++image)
    for (Index r = 0; r < oh; ++r)
      for (Index s = 0; s < ow; ++s) {
        Real sum = 0, most = -HUGE_VAL;
        Index count = 0;
        for (Index i = 0; i < kernel[0]; ++i)
          for (Index j = 0; j < kernel[1]; ++j) {
            const Index a = down.place(r, i), b = across.place(s, j);
            const bool outside = a < 0 || a >= h || b < 0 || b >= v;
            count += with_padding ? a < h + padding[0] && b < v + padding[1] : !outside;
            if (outside) continue;
            sum += x.values[at((image * h + a) * v + b)];
            most = std::max(most, x.values[at((image * h + a) * v + b)]);
          }
        y.values.push_back(maximum ? most : sum / whole("divisor_override", count));
      }
  if (dims == 1) y.shape.pop_back();
  return y;
}

RealTensor Evaluation::adaptive_pool(bool maximum) const {
  const RealTensor x = as_images(input("self"));
  const ir::ValueInfo& info = node_->info;  // maxima come with their places
  const Shape result = info.is_tensor() ? info.shape : info.elements.at(0).shape;
  RealTensor y = as_images({result, {}});
  y.shape[0] = x.shape[0];
  const Index h = x.shape[2], v = x.shape[3], oh = y.shape[2], ow = y.shape[3];
  const auto begin = [](Index o, Index in, Index out) { return o * in / out; };
  const auto end = [](Index o, Index in, Index out) { return ((o + 1) * in + out - 1) / out; };
  for (Index image = 0; image < x.shape[0] * x.shape[1]; ++image)
    for (Index r = 0; r < oh; ++r)
      for (Index s = 0; s < ow; ++s) {
        Real sum = 0, most = -HUGE_VAL;
        Index count = 0;
        for (Index a = begin(r, h, oh); a < end(r, h, oh); ++a)
          for (Index b = begin(s, v, ow); b < end(s, v, ow); ++b, ++count) {
            const Real one = x.values[at((image * h + a) * v + b)];
            sum += one;
            most = std::max(most, one);
          }
        y.values.push_back(maximum ? most : sum / count);
      }
  y.shape.resize(result.size());
  return y;
}

RealTensor Evaluation::reduced(const std::function<Real(Real, Real)>& join, bool mean) const {
  const RealTensor x = input("self");
  const auto rank = static_cast<Index>(x.shape.size());
  std::vector<bool> gone(x.shape.size(), false);
  const Value& given = *argument("dim");
  const std::vector<Value> dims =
      given.kind() == Value::Kind::integer ? std::vector{given} : given.items();
  for (const Value& dim : dims) gone[at((dim.as_int() + rank) % rank)] = true;
  std::map<Index, std::pair<Real, Index>> found;  // by place in the result: value and count
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    Index rest = static_cast<Index>(i), target = 0, stride = 1;
    for (std::size_t d = x.shape.size(); d-- > 0; rest /= x.shape[d]) {
      if (gone[d]) continue;
      target += rest % x.shape[d] * stride;
      stride *= x.shape[d];
    }
    const auto [entry, fresh] = found.emplace(target, std::pair{x.values[i], Index{1}});
    if (fresh) continue;
    entry->second.first = join(entry->second.first, x.values[i]);
    ++entry->second.second;
  }
  RealTensor y{x.shape, {}};
  for (const auto& [place, value] : found)
    y.values.push_back(mean ? value.first / value.second : value.first);
  const ir::ValueInfo& info = node_->info;
  y.shape = info.is_tensor() ? info.shape : info.elements.at(0).shape;
  y.shape[0] = 1;
  y.shape[0] = static_cast<Index>(y.values.size()) / numel(y.shape);
  return y;
}

/// Along one dimension, the first of equal ones.
RealTensor Evaluation::places_of_maxima() const {
  const RealTensor x = input("self");
  const auto rank = static_cast<Index>(x.shape.size());
  const Index d = (whole("dim", 0) + rank) % rank, size = x.shape[at(d)];
  const Index inner = numel(Shape(x.shape.begin() + d + 1, x.shape.end()));
  RealTensor y;
  for (Index i = 0; i < static_cast<Index>(x.values.size()) / size; ++i) {
    const Index first = i / inner * size * inner + i % inner;
    Index best = 0;
    for (Index place = 1; place < size; ++place)
      if (x.values[at(first + place * inner)] > x.values[at(first + best * inner)]) best = place;
    y.values.push_back(static_cast<Real>(best));
  }
  y.shape = node_->info.is_tensor() ? node_->info.shape : node_->info.elements.at(1).shape;
  y.shape[0] = x.shape[0];
  return y;
}

}  // namespace mase::test
