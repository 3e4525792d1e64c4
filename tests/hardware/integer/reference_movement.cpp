// SPDX-License-Identifier: Apache-2.0
// Ops that give elements other places, of the reference evaluator: every element of the result asks
// for its own, by torch's documentation.
#include <algorithm>

#include "reference_evaluation.hpp"

namespace mase::test {

/// y at coordinates c is x at f(c), or `filler` where f puts one below 0.
RealTensor Evaluation::placed(const Shape& shape, const std::function<Shape(Shape)>& f,
                              Real filler) const {
  const RealTensor x = input(node_->find("self") ? "self" : "input");
  RealTensor y{shape, {}};
  y.shape[0] = x.shape[0];
  for (Index i = 0; i < numel(y.shape); ++i) {
    Shape c(y.shape.size());
    Index rest = i;
    for (std::size_t d = c.size(); d-- > 0; rest /= y.shape[d]) c[d] = rest % y.shape[d];
    const Shape from = f(c);
    Index index = 0;
    for (std::size_t d = 0; d < from.size(); ++d) index = index * x.shape[d] + from[d];
    const bool inside = std::ranges::none_of(from, [](Index place) { return place < 0; });
    y.values.push_back(inside ? x.values[at(index)] : filler);
  }
  return y;
}

/// Between the four pixels around (o + 1/2) * in / out - 1/2, none of them outside of the image.
RealTensor Evaluation::bilinear() const {
  const Shape size = input("input").shape, out = node_->info.shape;
  const auto source = [&](Index o, std::size_t d) {
    const Real scale = static_cast<Real>(size[d]) / static_cast<Real>(out[d]);
    return std::max<Real>(0, (static_cast<Real>(o) + Real{0.5}) * scale - Real{0.5});
  };
  const auto corner = [&](Index lower, Index right) {
    return placed(out, [&, lower, right](Shape c) {
      c[2] = std::min(static_cast<Index>(source(c[2], 2)) + lower, size[2] - 1);
      c[3] = std::min(static_cast<Index>(source(c[3], 3)) + right, size[3] - 1);
      return c;
    });
  };
  const RealTensor corners[] = {corner(0, 0), corner(0, 1), corner(1, 0), corner(1, 1)};
  RealTensor y = corners[0];
  for (Index i = 0; i < numel(y.shape); ++i) {
    const Real row = source(i / out[3] % out[2], 2), column = source(i % out[3], 3);
    const Real down = row - static_cast<Real>(static_cast<Index>(row));
    const Real across = column - static_cast<Real>(static_cast<Index>(column));
    y.values[at(i)] =
        (1 - down) * ((1 - across) * corners[0].values[at(i)] + across * corners[1].values[at(i)]) +
        down * ((1 - across) * corners[2].values[at(i)] + across * corners[3].values[at(i)]);
  }
  return y;
}

RealTensor Evaluation::padded() const {
  const Shape pads = list("pad", 0, 0), size = input("self").shape;
  const Value* given = argument("mode");
  const std::string mode = given ? given->as_string() : "constant";
  const auto move = [&](Shape c) {
    for (std::size_t d = size.size(), p = 0; p < pads.size(); p += 2) {
      Index& place = c[--d];
      place -= pads[p];
      if (place >= 0 && place < size[d]) continue;
      if (mode == "constant") place = -1;
      if (mode == "replicate") place = place < 0 ? 0 : size[d] - 1;
      if (mode == "circular") place += place < 0 ? size[d] : -size[d];
      if (mode == "reflect") place = place < 0 ? -place : 2 * size[d] - 2 - place;
    }
    return c;
  };
  return placed(node_->info.shape, move, static_cast<float>(number("value", 0)));
}

RealTensor Evaluation::shuffled(bool up) const {
  const Index r = whole(up ? "upscale_factor" : "downscale_factor", 1);
  return placed(node_->info.shape, [=](const Shape& c) -> Shape {
    if (up) return {c[0], c[1] * r * r + c[2] % r * r + c[3] % r, c[2] / r, c[3] / r};
    return {c[0], c[1] / (r * r), c[2] * r + c[1] / r % r, c[3] * r + c[1] % r};
  });
}

void Evaluation::add_movements(std::map<std::string, Operator>& t) {
  using E = const Evaluation&;
  using R = std::vector<RealTensor>;
  t["pad"] = t["constant_pad_nd"] = [](E e) -> R { return {e.padded()}; };
  t["im2col"] = [](E e) -> R {
    const Shape size = e.input("self").shape, kernel = e.list("kernel_size", 2, 1);
    const Shape stride = e.list("stride", 2, 1), dilation = e.list("dilation", 2, 1);
    const Shape padding = e.list("padding", 2, 0);
    const Index reach = (kernel[1] - 1) * dilation[1] + 1;
    const Index across = (size[3] + 2 * padding[1] - reach) / stride[1] + 1;
    return {e.placed(e.node_->info.shape, [=](const Shape& c) -> Shape {
      const Index i = c[1] / kernel[1] % kernel[0], j = c[1] % kernel[1];
      const Index a = c[2] / across * stride[0] + i * dilation[0] - padding[0];
      const Index b = c[2] % across * stride[1] + j * dilation[1] - padding[1];
      const bool inside = a < size[2] && b < size[3];
      return {c[0], c[1] / kernel[1] / kernel[0], inside ? a : -1, b};
    })};
  };
  t["pixel_shuffle"] = [](E e) -> R { return {e.shuffled(true)}; };
  t["pixel_unshuffle"] = [](E e) -> R { return {e.shuffled(false)}; };
  t["flip"] = [](E e) -> R {
    const Shape size = e.input("self").shape, dims = e.list("dims", 1, 0);
    return {e.placed(e.node_->info.shape, [=](Shape c) {
      for (const Index d : dims) c[at(d)] = size[at(d)] - 1 - c[at(d)];
      return c;
    })};
  };
  t["roll"] = [](E e) -> R {
    const Shape size = e.input("self").shape, dims = e.list("dims", 1, 0);
    const Shape shifts = e.list("shifts", 1, 0);
    return {e.placed(e.node_->info.shape, [=](Shape c) {
      for (std::size_t i = 0; i < dims.size(); ++i) {
        const Index n = size[at(dims[i])];
        c[at(dims[i])] = ((c[at(dims[i])] - shifts[i]) % n + n) % n;
      }
      return c;
    })};
  };
  t["repeat"] = t["expand"] = [](E e) -> R {
    const Shape size = e.input("self").shape;
    return {e.placed(e.node_->info.shape, [=](Shape c) {
      for (std::size_t d = 1; d < c.size(); ++d) c[d] %= size[d];
      return c;
    })};
  };
  t["upsample"] = [](E e) -> R {
    const Shape size = e.input("input").shape, out = e.node_->info.shape;
    if (ir::base_op(e.node_->op).starts_with("aten::upsample_bilinear")) return {e.bilinear()};
    return {e.placed(out, [=](Shape c) {
      for (std::size_t d = 2; d < c.size(); ++d)
        c[d] = static_cast<Index>(static_cast<float>(c[d]) *
                                  (static_cast<float>(size[d]) / static_cast<float>(out[d])));
      return c;
    })};
  };
  t["channel_shuffle"] = [](E e) -> R {
    const Index groups = e.whole("groups", 1), channels = e.node_->info.shape[1];
    return {e.placed(e.node_->info.shape, [=](Shape c) {
      c[1] = c[1] % groups * (channels / groups) + c[1] / groups;
      return c;
    })};
  };
  t["stack"] = [](E e) -> R {
    R parts;
    for (const Value& item : e.node_->find("tensors")->items())
      parts.push_back(e.operand(item, "data_in"));
    const std::size_t dim = at(e.whole("dim", 0));
    RealTensor y = e.shaped(parts[0]);
    y.values.clear();
    const Index outer = numel(Shape(y.shape.begin(), y.shape.begin() + e.whole("dim", 0)));
    for (Index o = 0; o < outer; ++o)
      for (const RealTensor& x : parts) {
        const Index inner = numel(y.shape) / outer / y.shape[dim];
        for (Index i = 0; i < inner; ++i) y.values.push_back(x.values[at(o * inner + i)]);
      }
    return {y};
  };
  t["unbind"] = [](E e) -> R {
    R parts;
    const RealTensor x = e.input("self");
    const std::size_t dim = at(e.whole("dim", 0));
    for (Index i = 0; i < x.shape[dim]; ++i) {
      parts.push_back(e.part(x, dim, i, 1));
      parts.back().shape.erase(parts.back().shape.begin() + e.whole("dim", 0));
    }
    return parts;
  };
}

}  // namespace mase::test
