// SPDX-License-Identifier: Apache-2.0
// The ops in plain loops, as torch's documentation defines them: walking the graph, elementwise
// ops, shapes and channels.
#include "reference.hpp"

#include <algorithm>
#include <cmath>

#include "reference_evaluation.hpp"

namespace mase::test {
namespace {

/// The greatest whole number up to v, for |v| < 2^100.
Real whole_below(Real v) {
  const auto truncated = static_cast<__int128>(v);
  const Real whole = static_cast<Real>(truncated);
  return whole > v ? whole - 1 : whole;
}

/// The shape of both, aligned at their last dimensions.
Shape broadcast(const Shape& a, const Shape& b) {
  Shape shape = a.size() >= b.size() ? a : b;
  const Shape& other = a.size() >= b.size() ? b : a;
  for (std::size_t d = 0; d < other.size(); ++d) {
    Index& size = shape[shape.size() - other.size() + d];
    size = std::max(size, other[d]);
  }
  return shape;
}

}  // namespace

Real power_of_two(int exponent) {
  Real result = 1;
  for (; exponent > 0; --exponent) result *= 2;
  for (; exponent < 0; ++exponent) result /= 2;
  return result;
}

Real nearest_even(Real v) {
  const Real below = whole_below(v), rest = v - below;
  if (rest > Real(0.5)) return below + 1;
  if (rest < Real(0.5)) return below;
  return static_cast<__int128>(below) % 2 == 0 ? below : below + 1;
}

RealTensor tensor_of(const Array& array) {
  RealTensor tensor{array.shape(), {}};
  const Array floats = array.to_float32();
  for (const float value : floats.span<float>()) tensor.values.push_back(value);
  return tensor;
}

/// Torch's broadcasting: shapes are aligned at their ends.
RealTensor Evaluation::joined(const RealTensor& a, const RealTensor& b,
                              const std::function<Real(Real, Real)>& f) {
  const Shape shape = broadcast(a.shape, b.shape);
  const auto pick = [&](const RealTensor& tensor, Index element) {
    Index index = 0, stride = 1;
    for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
      const std::size_t from_end = shape.size() - 1 - d;
      const Index coordinate = element % shape[from_end];
      element /= shape[from_end];
      const Index size = tensor.shape[tensor.shape.size() - 1 - d];
      index += size == 1 ? 0 : coordinate * stride;
      stride *= size;
    }
    return tensor.values[at(index)];
  };
  RealTensor y{shape, {}};
  for (Index i = 0; i < numel(shape); ++i) y.values.push_back(f(pick(a, i), pick(b, i)));
  return y;
}

RealTensor Evaluation::binary(const std::function<Real(Real, Real)>& f) const {
  return joined(operand(*node_->find("self"), "data_in"),
                operand(*node_->find("other"), "data_in_1"), f);
}

/// `a` where the mask is not 0, else `b`; what is no number stands for the latter on the way.
RealTensor Evaluation::chosen_by(const std::string& mask, const std::string& a,
                                 const std::string& b) const {
  const Real nothing = static_cast<Real>(NAN);
  const RealTensor first =
      joined(operand(*node_->find(mask), mask), operand(*node_->find(a), "data_in"),
             [=](Real m, Real x) { return m != 0 ? x : nothing; });
  return joined(first, operand(*node_->find(b), "data_in"),
                [](Real x, Real y) { return x != x ? y : x; });
}

namespace {

/// A tensor of one row for each of the batch.
RealTensor every_row(RealTensor x, Index rows) {
  const std::vector<Real> row = x.values;
  for (Index i = x.shape[0]; i < rows; ++i) x.values.insert(x.values.end(), row.begin(), row.end());
  x.shape[0] = rows;
  return x;
}

}  // namespace

RealTensor Evaluation::cat() const {
  std::vector<RealTensor> tensors;
  for (const Value& item : node_->find("tensors")->items())
    tensors.push_back(operand(item, "data_in"));
  Index dim = whole("dim", 0);
  if (dim < 0) dim += static_cast<Index>(tensors[0].shape.size());
  Index rows = 1;
  for (const RealTensor& x : tensors) rows = std::max(rows, x.shape[0]);
  for (RealTensor& x : tensors) x = every_row(x, rows);
  RealTensor y{tensors[0].shape, {}};
  y.shape[at(dim)] = 0;
  for (const RealTensor& x : tensors) y.shape[at(dim)] += x.shape[at(dim)];
  const Index outer = numel(Shape(y.shape.begin(), y.shape.begin() + dim));
  for (Index o = 0; o < outer; ++o)
    for (const RealTensor& x : tensors) {
      const Index block = numel(x.shape) / outer;
      y.values.insert(y.values.end(), x.values.begin() + o * block,
                      x.values.begin() + (o + 1) * block);
    }
  return y;
}

/// Numbers beyond the table, which an id of LibTorch never is, name its first and last row.
RealTensor Evaluation::embedded() const {
  const RealTensor table = parameter("weight");
  RealTensor y = results_.at(node_->find("indices")->node())[0];
  const std::vector<Real> ids = y.values;
  const Index rows = table.shape[0], columns = table.shape[1];
  y.values.clear();
  y.shape.push_back(columns);
  for (const Real id : ids) {
    const Real inside = std::clamp<Real>(id, 0, static_cast<Real>(rows - 1));
    const auto row = static_cast<Index>(std::nearbyint(static_cast<double>(inside)));
    y.values.insert(y.values.end(), table.values.begin() + row * columns,
                    table.values.begin() + (row + 1) * columns);
  }
  return y;
}

RealTensor Evaluation::part(const RealTensor& x, std::size_t dim, Index first, Index count,
                            Index step) const {
  RealTensor y{x.shape, {}};
  y.shape[dim] = count;
  const Index inner =
      numel(Shape(x.shape.begin() + static_cast<std::ptrdiff_t>(dim) + 1, x.shape.end()));
  for (Index i = 0; i < numel(x.shape); ++i) {
    const Index after = i / inner % x.shape[dim] - first;
    if (after >= 0 && after % step == 0 && after / step < count)
      y.values.push_back(x.values[at(i)]);
  }
  return y;
}

/// Neighbours along one dimension, each minus the one before it.
RealTensor Evaluation::differences() const {
  const RealTensor x = input("self");
  const Index rank = static_cast<Index>(x.shape.size());
  const std::size_t dim = at((whole("dim", -1) + rank) % rank);
  const Index count = x.shape[dim] - 1;
  return joined(part(x, dim, 1, count), part(x, dim, 0, count),
                [](Real later, Real earlier) { return later - earlier; });
}

/// The places of dimension d that an index tensor names, in its order.
static RealTensor chosen(const RealTensor& x, std::size_t d, const RealTensor& index) {
  RealTensor y{x.shape, {}};
  y.shape[d] = static_cast<Index>(index.values.size());
  const Index inner =
      numel(Shape(x.shape.begin() + static_cast<std::ptrdiff_t>(d) + 1, x.shape.end()));
  for (Index outer = 0; outer < numel(x.shape) / inner / x.shape[d]; ++outer)
    for (const Real number : index.values) {
      const auto place = static_cast<Index>(number) + (number < 0 ? x.shape[d] : 0);
      for (Index i = 0; i < inner; ++i)
        y.values.push_back(x.values[at((outer * x.shape[d] + place) * inner + i)]);
    }
  return y;
}

std::vector<RealTensor> Evaluation::parts() const {
  const RealTensor x = input("self");
  Index dim = whole("dim", 0);
  if (dim < 0) dim += static_cast<Index>(x.shape.size());
  std::vector<RealTensor> found;
  Index first = 0;
  for (const ir::ValueInfo& info : node_->info.elements) {
    found.push_back(part(x, at(dim), first, info.shape[at(dim)]));
    first += info.shape[at(dim)];
  }
  return found;
}

RealTensor Evaluation::item() const {
  const auto& from = results_.at(node_->find("value")->node());
  const Value& index = *node_->find("index");
  if (index.kind() == Value::Kind::integer)
    return from[at(index.as_int() < 0 ? index.as_int() + static_cast<Index>(from.size())
                                      : index.as_int())];
  RealTensor x = from[0];
  std::size_t d = 0;  // of what is left of x
  for (const Value& item : index.items()) {
    if (item.is_none()) {
      x.shape.insert(x.shape.begin() + static_cast<std::ptrdiff_t>(d++), 1);
      continue;
    }
    if (item.is_node()) {
      x = chosen(x, d, tensor_of(graph_.tensors.at(graph_.node(item.node()).target).value));
      ++d;
      continue;
    }
    if (item.kind() == Value::Kind::integer) {
      const Index one = item.as_int();
      x = part(x, d, one < 0 ? one + x.shape[d] : one, 1);
      x.shape.erase(x.shape.begin() + static_cast<std::ptrdiff_t>(d));
      continue;
    }
    const auto& bounds = item.items();
    Index first = bounds[0].is_none() ? 0 : bounds[0].as_int();
    Index last = bounds[1].is_none() ? x.shape[d] : bounds[1].as_int();
    if (first < 0) first += x.shape[d];
    if (last < 0) last += x.shape[d];
    const Index step = bounds[2].is_none() ? 1 : bounds[2].as_int();
    x = part(x, d, first, (last - first + step - 1) / step, step);
    ++d;
  }
  return x;
}

/// In the shape of the node's result, with as many rows as there are.
RealTensor Evaluation::shaped(RealTensor x) const {
  const Index rows = x.shape[0];
  x.shape = node_->info.shape;
  x.shape[0] = rows;
  return x;
}

/// With as many places as the elements make along the dimension that is given as -1, or the first.
RealTensor Evaluation::reshaped() const {
  RealTensor x = input(node_->find("self") ? "self" : "input");
  x.shape = node_->info.shape;
  const Value* sizes = node_->find("size");
  std::size_t free = 0;
  for (std::size_t d = 0; sizes && sizes->kind() == Value::Kind::list && d < x.shape.size(); ++d)
    if (sizes->items()[d] == Value(-1)) free = d;
  x.shape[free] = 1;
  x.shape[free] = static_cast<Index>(x.values.size()) / numel(x.shape);
  return x;
}

RealTensor Evaluation::permuted() const {
  const RealTensor x = input("self");
  const auto rank = static_cast<Index>(x.shape.size());
  Shape dims;
  if (const Value* given = argument("dims")) {
    for (const Value& dim : given->items()) dims.push_back((dim.as_int() + rank) % rank);
  } else {
    for (Index d = 0; d < rank; ++d) dims.push_back(d);
    if (node_->op == "aten::numpy_T")
      std::ranges::reverse(dims);
    else
      std::swap(dims[at((whole("dim0", -2) + rank) % rank)],
                dims[at((whole("dim1", -1) + rank) % rank)]);
  }
  RealTensor y;
  for (const Index dim : dims) y.shape.push_back(x.shape[at(dim)]);
  for (Index i = 0; i < numel(y.shape); ++i) {
    Shape coordinates(at(rank));
    Index rest = i;
    for (Index d = rank; d-- > 0; rest /= y.shape[at(d)])
      coordinates[at(dims[at(d)])] = rest % y.shape[at(d)];
    Index index = 0;
    for (Index d = 0; d < rank; ++d) index = index * x.shape[at(d)] + coordinates[at(d)];
    y.values.push_back(x.values[at(index)]);
  }
  return y;
}

const std::map<std::string, Evaluation::Operator>& Evaluation::operators() {
  using E = const Evaluation&;
  using R = std::vector<RealTensor>;
  static const double inf = HUGE_VAL;
  static const std::map<std::string, Operator> table = [] {
    std::map<std::string, Operator> t;
    t["linear"] = [](E e) -> R { return {e.linear()}; };
    t["matmul"] = [](E e) -> R { return {e.product("self", "other")}; };
    t["bmm"] = t["mm"] = [](E e) -> R { return {e.product("self", "mat2")}; };
    t["addmm"] = [](E e) -> R { return {e.added_product("mat1", "mat2")}; };
    t["baddbmm"] = [](E e) -> R { return {e.added_product("batch1", "batch2")}; };
    t["conv1d"] = t["conv2d"] = [](E e) -> R { return {e.convolution()}; };
    t["convtranspose1d"] =
        t["convtranspose2d"] = [](E e) -> R { return {e.transposed_convolution()}; };
    t["batch_norm1d"] = t["batch_norm2d"] = [](E e) -> R { return {e.batch_norm()}; };
    t["max_pool1d"] = t["max_pool2d"] = [](E e) -> R { return {e.pool(true)}; };
    t["avg_pool1d"] = t["avg_pool2d"] = [](E e) -> R { return {e.pool(false)}; };
    t["adaptive_avg_pool1d"] =
        t["adaptive_avg_pool2d"] = [](E e) -> R { return {e.adaptive_pool(false)}; };
    t["adaptive_max_pool1d"] =
        t["adaptive_max_pool2d"] = [](E e) -> R { return {e.adaptive_pool(true)}; };
    const auto plus = [](Real a, Real b) { return a + b; };
    t["mean"] = [plus](E e) -> R { return {e.reduced(plus, true)}; };
    t["sum"] = [plus](E e) -> R { return {e.reduced(plus, false)}; };
    const auto larger = [](Real a, Real b) { return a < b ? b : a; };
    t["max"] = [larger](E e) -> R {
      if (e.node_->info.elements.empty()) return {e.reduced(larger, false)};
      return {e.reduced(larger, false), e.places_of_maxima()};
    };
    t["argmax"] = [](E e) -> R { return {e.places_of_maxima()}; };
    t["relu"] = [](E e) -> R { return {e.clamped(0, inf)}; };
    t["relu6"] = [](E e) -> R { return {e.clamped(0, 6)}; };
    t["hardtanh"] = [](E e) -> R {
      return {e.clamped(e.number("min_val", -1), e.number("max_val", 1))};
    };
    t["clamp"] = [](E e) -> R { return {e.clamped(e.number("min", -inf), e.number("max", inf))}; };
    t["clamp_min"] = [](E e) -> R { return {e.clamped(e.number("min", -inf), inf)}; };
    t["clamp_max"] = [](E e) -> R { return {e.clamped(-inf, e.number("max", inf))}; };
    t["add"] = [](E e) -> R { return {e.binary([](Real a, Real b) { return a + b; })}; };
    t["sub"] = [](E e) -> R {
      if (e.node_->op.starts_with("aten::rsub"))
        return {e.binary([](Real a, Real b) { return b - a; })};
      return {e.binary([](Real a, Real b) { return a - b; })};
    };
    t["mul"] = [](E e) -> R { return {e.binary([](Real a, Real b) { return a * b; })}; };
    t["maximum"] = [](E e) -> R {
      return {e.binary([](Real a, Real b) { return a < b ? b : a; })};
    };
    t["minimum"] = [](E e) -> R {
      return {e.binary([](Real a, Real b) { return b < a ? b : a; })};
    };
    // What is no number has no code: hardware gives 0. It has one zero, which is not negative.
    t["div"] = [](E e) -> R {
      return {e.binary([](Real a, Real b) { return a == 0 ? a : a / (b + 0); })};
    };
    t["gt"] = [](E e) -> R { return {e.binary([](Real a, Real b) { return Real(a > b); })}; };
    t["ge"] = [](E e) -> R { return {e.binary([](Real a, Real b) { return Real(a >= b); })}; };
    t["lt"] = [](E e) -> R { return {e.binary([](Real a, Real b) { return Real(a < b); })}; };
    t["le"] = [](E e) -> R { return {e.binary([](Real a, Real b) { return Real(a <= b); })}; };
    t["eq"] = [](E e) -> R { return {e.binary([](Real a, Real b) { return Real(a == b); })}; };
    t["ne"] = [](E e) -> R { return {e.binary([](Real a, Real b) { return Real(a != b); })}; };
    t["and"] = [](E e) -> R { return {e.binary([](Real a, Real b) { return a * b; })}; };
    t["or"] = [](E e) -> R { return {e.binary([](Real a, Real b) { return a < b ? b : a; })}; };
    t["bitwise_and"] = t["and"];
    t["bitwise_or"] = t["or"];
    t["diff"] = [](E e) -> R { return {e.differences()}; };
    t["copy"] = [](E e) -> R {
      return {joined(e.input("src"), e.input("self"), [](Real x, Real) { return x; })};
    };
    t["fill"] = [](E e) -> R { return {e.map([&](Real) { return Real(e.number("value", 0)); })}; };
    t["not"] = [](E e) -> R { return {e.map([](Real x) { return 1 - x; })}; };
    t["neg"] = [](E e) -> R { return {e.map([](Real x) { return -x; })}; };
    t["embedding"] = [](E e) -> R { return {e.embedded()}; };
    t["masked_fill"] = [](E e) -> R { return {e.chosen_by("mask", "value", "self")}; };
    t["where"] = [](E e) -> R { return {e.chosen_by("condition", "self", "other")}; };
    t["zeros_like"] = [](E e) -> R { return {e.map([](Real) { return Real(0); })}; };
    t["cat"] = [](E e) -> R { return {e.cat()}; };
    t["chunk"] = t["split"] = [](E e) -> R { return e.parts(); };
    t["getitem"] = [](E e) -> R { return {e.item()}; };
    t["slice"] = t["narrow"] = [](E e) -> R {
      const std::size_t dim = at(e.whole("dim", 0));
      return {e.part(e.input("self"), dim, e.whole("start", 0), e.node_->info.shape[dim],
                     e.whole("step", 1))};
    };
    t["select"] = [](E e) -> R {
      const RealTensor x = e.input("self");
      const std::size_t dim = at(e.whole("dim", 0));
      const Index index = e.whole("index", 0);
      RealTensor one = e.part(x, dim, index < 0 ? index + x.shape[dim] : index, 1);
      one.shape.erase(one.shape.begin() + static_cast<std::ptrdiff_t>(dim));
      return {std::move(one)};
    };
    for (const char* op : {"view", "reshape", "flatten", "unflatten", "squeeze", "unsqueeze",
                           "identity", "contiguous", "clone", "detach", "dropout", "to"})
      t[op] = [](E e) -> R { return {e.reshaped()}; };
    for (const char* op : {"permute", "transpose", "t", "mT", "numpy_T"})
      t[op] = [](E e) -> R { return {e.permuted()}; };
    t["sigmoid"] = [](E e) -> R { return {e.table([](double x) { return 1 / (1 + exp(-x)); })}; };
    t["tanh"] = [](E e) -> R { return {e.table([](double x) { return std::tanh(x); })}; };
    t["silu"] = [](E e) -> R { return {e.table([](double x) { return x / (1 + exp(-x)); })}; };
    t["hardsigmoid"] = [](E e) -> R {
      return {e.table([](double x) { return x <= -3 ? 0 : x >= 3 ? 1 : x / 6 + 0.5; })};
    };
    t["hardswish"] = [](E e) -> R {
      return {e.table([](double x) { return x <= -3 ? 0 : x >= 3 ? x : x * (x + 3) / 6; })};
    };
    t["gelu"] = [](E e) -> R {
      const Value* kind = e.argument("approximate");
      if (kind && kind->as_string() == "tanh")
        return {e.table([](double x) {
          return x * 0.5 * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * std::pow(x, 3))));
        })};
      return {e.table([](double x) { return x * 0.5 * std::erfc(-x * 0.7071067811865476); })};
    };
    t["elu"] = [](E e) -> R {
      const double alpha = e.number("alpha", 1);
      return {e.table([=](double x) { return x > 0 ? x : alpha * (exp(x) - 1); })};
    };
    t["softplus"] = [](E e) -> R {
      const double beta = e.number("beta", 1), threshold = e.number("threshold", 20);
      return {e.table(
          [=](double x) { return x * beta > threshold ? x : std::log(1 + exp(beta * x)) / beta; })};
    };
    t["leaky_relu"] = [](E e) -> R {
      const double slope = e.number("negative_slope", 0.01);
      return {e.table([=](double x) { return x >= 0 ? x : x * slope; })};
    };
    add_functions(t);
    add_movements(t);
    return t;
  }();
  return table;
}

Real quantized(Real number, const formats::Format& format, std::size_t channel) {
  const Tree fields = format.fields();
  if (!fields.find("channel_frac_width")) return element(number, format);
  const auto width = static_cast<int>(fields.at("width").as_int());
  const auto& fracs = fields.at("channel_frac_width").as_list();
  const Tree& chosen = fracs.empty() ? fields.at("frac_width") : fracs.at(channel);
  const auto frac = static_cast<int>(chosen.as_int());
  const bool is_signed = fields.at("is_signed").as_bool();
  const bool floor =
      format.name() == "integer_floor" || fields.at("rounding").as_string() == "floor";
  const Real low = is_signed ? -power_of_two(width - 1) : Real(0);
  const Real high = power_of_two(is_signed ? width - 1 : width) - 1;
  const Real scaled = number * power_of_two(frac);
  if (scaled <= low) return low * power_of_two(-frac);
  if (scaled >= high) return high * power_of_two(-frac);
  if (floor) return whole_below(scaled) * power_of_two(-frac);
  const bool away =
      format.name() != "integer_floor" && fields.at("rounding").as_string() == "nearest_away";
  const Real tie_up = whole_below(scaled + Real(0.5));
  const bool is_tie = tie_up - scaled == Real(0.5);
  if (away && is_tie) return (scaled < 0 ? tie_up - 1 : tie_up) * power_of_two(-frac);
  return nearest_even(scaled) * power_of_two(-frac);
}

std::vector<RealTensor> evaluate(const ir::Graph& graph, const std::vector<Array>& inputs) {
  return Evaluation(graph, inputs).outputs;
}

}  // namespace mase::test
