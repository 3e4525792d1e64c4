// SPDX-License-Identifier: Apache-2.0
// Reading the arguments, formats and tensors of a node.
#include "hardware/integer/lowering/call.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/from_front.hpp"
#include "ir/op_table.hpp"

namespace mase::integer {
namespace {

using ir::Value;

/// Codes of float values on a format's grid.
Constants encoded(const Array& values, const formats::Format& format, const WeightGrid& grid) {
  const formats::Encoded encoded =
      format.deterministic().encode(values.span<float>(), values.shape());
  const FixedType& type = grid.grid.type;
  Constants constants{values.shape(), type, {}, grid.fracs};
  const auto sign = type.is_signed ? std::int64_t{1} << (type.width - 1) : 0;
  for (const std::uint32_t code : encoded.codes.unpack())
    constants.codes.push_back((std::int64_t{code} ^ sign) - sign);
  return constants;
}

/// The least grid that holds float values, or a refusal above so many bits.
Constants exact(const Array& values, const std::string& what, int most_bits = 32,
                const std::string& remedy = "give the node a data_in format") {
  int frac = -1000;
  for (const float value : values.span<float>()) {
    if (!std::isfinite(value)) throw Refusal{what + " has values that are not finite"};
    if (value != 0) frac = std::max(frac, fraction_bits(value));
  }
  if (frac == -1000) frac = 0;
  Constants constants{values.shape(), {}, {}};
  for (const float value : values.span<float>()) {
    const double code = std::ldexp(static_cast<double>(value), frac);
    if (std::abs(code) >= std::ldexp(1.0, most_bits - 1))
      throw Refusal{what + " needs more than " + std::to_string(most_bits) + " bits to be exact; " +
                    remedy + " (pass quantize)"};
    constants.codes.push_back(static_cast<std::int64_t>(code));
  }
  constants.fit(frac);
  return constants;
}

std::string quoted(std::string_view word) { return "'" + std::string(word) + "'"; }

}  // namespace

const Value* Call::find(std::string_view name) const {
  const Value* value = lowering.graph().argument(node, name);
  return value && !value->is_none() ? value : nullptr;
}

void Call::check_type() const {
  if (find("dtype") && node.info.dtype != DType::float32)
    throw Refusal{"a result of another type has no datapath"};
}

std::int64_t Call::integer(std::string_view name, std::int64_t otherwise) const {
  const Value* value = find(name);
  if (!value) return otherwise;
  if (value->kind() != Value::Kind::integer)
    throw Refusal{"argument " + quoted(name) + " is not a constant integer"};
  return value->as_int();
}

double Call::number(std::string_view name, double otherwise) const {
  const Value* value = find(name);
  if (!value) return otherwise;
  if (!value->is_number()) throw Refusal{"argument " + quoted(name) + " is not a constant number"};
  return value->as_double();
}

bool Call::flag(std::string_view name, bool otherwise) const {
  const Value* value = find(name);
  if (!value) return otherwise;
  if (value->kind() == Value::Kind::training) return false;
  if (value->kind() != Value::Kind::boolean)
    throw Refusal{"argument " + quoted(name) + " is not a constant"};
  return value->as_bool();
}

std::vector<std::int64_t> Call::integers(std::string_view name, std::size_t count,
                                         std::vector<std::int64_t> otherwise) const {
  const Value* value = find(name);
  if (!value) return otherwise;
  if (value->kind() == Value::Kind::integer)
    return std::vector<std::int64_t>(count, value->as_int());
  if (value->kind() != Value::Kind::list && value->kind() != Value::Kind::tuple)
    throw Refusal{"argument " + quoted(name) + " is not a constant list"};
  std::vector<std::int64_t> found;
  for (const Value& item : value->items()) {
    if (item.kind() != Value::Kind::integer)
      throw Refusal{"argument " + quoted(name) + " is not a list of constant integers"};
    found.push_back(item.as_int());
  }
  if (found.empty()) return otherwise;
  if (found.size() == 1) found.resize(count, found[0]);
  if (found.size() != count)
    throw Refusal{"argument " + quoted(name) + " has " + std::to_string(found.size()) +
                  " entries, expected " + std::to_string(count)};
  return found;
}

std::size_t Call::torch_dim(std::string_view name, std::int64_t otherwise, std::size_t rank) const {
  const std::int64_t dim = integer(name, otherwise);
  const auto place = from_front(dim, rank);
  if (!place) throw Refusal{"there is no dimension " + std::to_string(dim)};
  return *place;
}

std::size_t Call::frame_dim(std::string_view name, std::int64_t otherwise, std::size_t rank) const {
  const std::size_t dim = torch_dim(name, otherwise, rank + 1);
  if (dim == 0) throw Refusal{"it mixes rows of the batch"};
  return dim - 1;
}

namespace {

/// A grid that is so much finer than steps which are no powers of two that a second rounding to
/// these seldom moves a result: of numbers within their ends.
Grid grid_below(const AskedStep& asked) {
  constexpr int guard = 8;
  int exponent = 0;
  std::frexp(asked.step, &exponent);
  const int frac = guard + 1 - exponent;
  const auto end = [&](Wide code) {
    return static_cast<Wide>(
        std::nearbyint(std::ldexp(static_cast<double>(code) * asked.step, frac)));
  };
  const FixedType& codes = asked.grid.type;
  return {type_for(end(codes.low()), end(codes.high()), frac), formats::Rounding::nearest_even};
}

}  // namespace

Grid Call::needed_grid() const {
  if (auto levels = lowering.asked_levels(node)) return grid_of_levels(std::move(levels));
  if (const auto format = lowering.asked_blocks(node)) {
    const auto levels = block_levels_of(*format);
    return {deciding_type(*levels), formats::Rounding::nearest_even, nullptr, format};
  }
  const auto grid = lowering.target(node);
  if (!grid)
    lowering.refuse_grid(
        node,
        "its result needs a grid; give all its readers the same data_in format, or "
        "itself one: data_out = \"integer(8, 4)\", say, beside the formats of its other ports in "
        "the "
        "config of '" +
            node.name + "' (pass quantize)");
  return *grid;
}

Grid Call::needed_or_finer_grid() const {
  const bool has_own =
      lowering.target(node) || lowering.asked_levels(node) || lowering.asked_blocks(node);
  const auto asked = has_own ? std::nullopt : lowering.asked_step(node);
  return asked ? grid_below(*asked) : needed_grid();
}

const formats::Format* Call::format(std::string_view port) const {
  const auto found = node.formats.find(std::string(port));
  return found == node.formats.end() ? nullptr : &found->second;
}

const Parameter* Call::parameter_in(const Value& value) const {
  return value.is_node() ? std::get_if<Parameter>(&lowering.operand(value.node())) : nullptr;
}

const Parameter* Call::parameter(std::string_view argument) const {
  const Value* value = node.find(argument);
  return value ? parameter_in(*value) : nullptr;
}

bool Call::has_tensor(std::string_view argument) const {
  const Value* value = node.find(argument);
  if (value && value->is_node()) return parameter(argument) != nullptr;
  return node.kind == ir::NodeKind::call_module &&
         lowering.graph().module_of(node).tensor(argument);
}

namespace {

Parameter parameter_at(const Call& call, std::string_view argument) {
  if (const Parameter* parameter = call.parameter(argument)) return *parameter;
  return {*call.lowering.graph().module_of(call.node).tensor(argument), std::nullopt};
}

Array permuted(const Array& values, const std::vector<std::size_t>& dims) {
  const Layout layout = integer::permuted(row_major(values.shape()), dims);
  Array result(DType::float32, layout.torch_shape);
  const std::span<float> to = result.mutable_span<float>();
  for (std::size_t i = 0; i < layout.order.size(); ++i)
    to[at(layout.order[i])] = values.span<float>()[i];
  return result;
}

/// A weight in an element format has at most so many bits as fixed point; in fp8_e5m2 it has 33.
constexpr int most_weight_bits = 40;

/// The values that an element format rounds to, as codes of the least type that holds them.
Constants rounded_to_levels(const Array& values, const formats::Format& format) {
  Constants constants =
      exact(rounded(values, format), "format '" + format.text() + "'", most_weight_bits,
            "'integer', with granularity = \"channel\" for weights, would do");
  constants.elements = true;
  return constants;
}

/// Another checkpoint may have any code of the format.
Constants replaceable(Constants constants, const Lowering& lowering) {
  if (lowering.reloadable()) constants.any = interval_of(constants.type);
  return constants;
}

Constants on_grid(const Array& values, const Grid& grid, const std::string& what) {
  Constants constants{values.shape(), grid.type, {}};
  for (const float value : values.span<float>()) {
    if (std::isnan(value)) throw Refusal{what + " has NaN among its values"};
    constants.codes.push_back(static_cast<std::int64_t>(code_of(value, grid)));
  }
  return constants;
}

/// Codes that another checkpoint may replace have the type of the format, others the least one.
Constants encoded(const Lowering& lowering, const Array& values, const formats::Format& format) {
  if (!rounds_to_levels(format)) return encoded(values, format, {grid_of(format), {}});
  if (!lowering.reloadable()) return rounded_to_levels(values, format);
  const Grid grid = grid_of(format);
  if (grid.blocks)
    throw Refusal{
        "format '" + format.text() +
        "' shares exponents in blocks, whose weights no other checkpoint can replace; emit "
        "the design without reloadable, or give the weights 'integer'"};
  Constants constants = on_grid(values, grid, "a constant");
  constants.any_code = grid.levels->code;
  return constants;
}

/// Constants without a format of their own, with as many bits as their values need.
Constants exact_constants(const Lowering& lowering, const Array& values, const std::string& what) {
  if (lowering.reloadable())
    throw Refusal{"its " + what +
                  " has no format, so that the codes of other checkpoints have no bounds; give it "
                  "one (pass quantize), or emit the design without reloadable"};
  return exact(values, what);
}

}  // namespace

Array rounded(Array values, const formats::Format& format) {
  format.deterministic().quantize(values.span<float>(), values.mutable_span<float>(),
                                  values.shape());
  return values;
}

Array Call::values(const Parameter& parameter) const {
  Array found = lowering.graph().tensors.at(parameter.path).value.to_float32();
  if (parameter.format) {
    grid_of(*parameter.format);
    found = rounded(std::move(found), *parameter.format);
  }
  return parameter.dims.empty() ? found : permuted(found, parameter.dims);
}

Array Call::tensor_values(std::string_view argument) const {
  return values(parameter_at(*this, argument));
}

Constants Call::constants(std::string_view argument, bool exact_allowed) const {
  const Parameter parameter = parameter_at(*this, argument);
  const Array values = this->values(parameter);
  for (const ir::Port& port : ir::ports(lowering.graph(), node))
    if (port.argument == argument)
      if (const formats::Format* own = format(port.name))
        return replaceable(encoded(lowering, values, *own), lowering);
  if (parameter.format) return replaceable(encoded(lowering, values, *parameter.format), lowering);
  if (exact_allowed) return exact_constants(lowering, values, std::string(argument));
  throw Refusal{"its " + std::string(argument) +
                " is still float; give it a format (pass quantize)"};
}

Constants Call::constants_on(std::string_view argument, const Grid& grid) const {
  const Array values = this->values(parameter_at(*this, argument));
  return replaceable(on_grid(values, grid, quoted(argument)), lowering);
}

Constants Call::frame_constants(const Parameter& parameter, const std::optional<Grid>& grid) const {
  const Array values = this->values(parameter);
  const Shape shape = values.shape();
  if (shape.empty() || shape[0] != 1)
    throw Refusal{"its constant " + quoted(parameter.path) + " of shape " + shape_text(shape) +
                  " has rows of the batch, or no batch dimension of 1"};
  const std::string what = quoted(parameter.path);
  Constants constants = grid ? replaceable(on_grid(values, *grid, what), lowering)
                        : parameter.format
                            ? replaceable(encoded(lowering, values, *parameter.format), lowering)
                            : exact_constants(lowering, values, what);
  constants.shape.erase(constants.shape.begin());
  return constants;
}

namespace {

/// Whether the tiles of a tensor are the slices of its dimension 0.
bool slice_by_slice(const formats::Tiling& tiling, const Shape& shape) {
  const std::vector<std::int64_t> rows = tiling.row_tiles();
  const std::int64_t slices = shape.empty() ? 1 : shape[0];
  if (tiling.tiles() != slices || tiling.tile.back() != tiling.shape.back()) return false;
  for (std::size_t row = 0; row < rows.size(); ++row)
    if (rows[row] != static_cast<std::int64_t>(row) * slices / std::ssize(rows)) return false;
  return true;
}

/// Whether float32 scales are the same for all, and powers of two.
bool only_shifts(const formats::Encoded& encoded) {
  int exponent = 0;
  return encoded.scales.size() == 1 && std::frexp(encoded.scales[0], &exponent) == 0.5F;
}

/// Weights whose format has a float32 scale for each channel, or one for all, without it; nullopt
/// for other formats, and where scales only move the binary point.
std::optional<Constants> scaled_weights(const Array& values, const formats::Format& given) {
  using Scales = formats::Decoding::Scales;
  const formats::Format format = given.deterministic();
  const auto decoding = format.decoding(values.shape());
  if (!decoding || !decoding->tiling || decoding->scales == Scales::none) return std::nullopt;
  if (decoding->scales == Scales::of_tiles && !slice_by_slice(*decoding->tiling, values.shape()))
    throw Refusal{"its weight has scales within its channels, in format '" + format.text() +
                  "'; 'integer' with granularity = \"channel\" has fraction bits for each channel"};
  formats::Encoded encoded = format.encode(values.span<float>(), values.shape());
  if (decoding->scales == Scales::of_tensor && only_shifts(encoded)) return std::nullopt;
  const std::vector<float> scales = encoded.scales;
  std::ranges::fill(encoded.scales, 1.0F);
  Array unscaled(DType::float32, values.shape());
  format.decode(encoded, unscaled.mutable_span<float>(), values.shape());
  Constants weights = exact(unscaled, "format '" + format.text() + "'");
  weights.scales = scales;
  weights.elements = !decoding->elements.empty();
  return weights;
}

}  // namespace

Constants Call::weights() const {
  const formats::Format* own = format("weight");
  if (own && rounds_to_levels(*own) && !lowering.reloadable())
    if (auto scaled = scaled_weights(values(parameter_at(*this, "weight")), *own)) return *scaled;
  if (!own || !own->per_channel()) return constants("weight");
  const Array values = this->values(parameter_at(*this, "weight"));
  return replaceable(encoded(values, *own, weight_grid_of(*own)), lowering);
}

std::vector<std::int64_t> Call::constant_indices(const ir::Value& value) const {
  const Parameter* parameter = parameter_in(value);
  if (!parameter) throw Refusal{"its index is computed; a constant one has a datapath"};
  const Array& stored = lowering.graph().tensors.at(parameter->path).value;
  if (stored.dtype() != DType::int64) throw Refusal{"its index is not a list of int64 integers"};
  const auto numbers = stored.span<std::int64_t>();
  return {numbers.begin(), numbers.end()};
}

Constants Call::constant(double number) const {
  return exact(Array::from<float>(std::vector<float>{static_cast<float>(number)}, {}),
               "the constant");
}

StreamView Call::stream(std::string_view argument) const {
  const Value* value = node.find(argument);
  if (!value) throw Refusal{"argument " + quoted(argument) + " is missing"};
  return stream_of(*value, argument);
}

namespace {

const Operand& made_operand(const Lowering& lowering, const Value& value,
                            std::string_view argument) {
  if (!value.is_node())
    throw Refusal{"argument " + quoted(argument) + " is not a tensor of the graph"};
  const Operand& operand = lowering.operand(value.node());
  if (std::holds_alternative<std::monostate>(operand)) throw Refusal{};
  return operand;
}

const StreamView& made_stream(const Operand& operand, std::string_view argument) {
  const StreamView* stream = std::get_if<StreamView>(&operand);
  if (!stream) throw Refusal{"argument " + quoted(argument) + " is not computed from the inputs"};
  return *stream;
}

/// The port of an argument with its format; null without one.
const formats::Format* format_at(const Call& call, std::string_view argument, std::string& port) {
  for (const ir::Port& one : ir::ports(call.lowering.graph(), call.node))
    if (one.argument == argument)
      if (const formats::Format* own = call.format(one.name)) {
        port = one.name;
        return own;
      }
  return nullptr;
}

}  // namespace

const Scaled* Call::scaled(std::string_view argument) const {
  const Value* value = node.find(argument);
  if (!value || !value->is_node()) return nullptr;
  std::string port;
  if (format_at(*this, argument, port)) return nullptr;
  return std::get_if<Scaled>(&lowering.operand(value->node()));
}

StreamView Call::raw_stream(std::string_view argument) const {
  const Value* value = node.find(argument);
  if (!value) throw Refusal{"argument " + quoted(argument) + " is missing"};
  const Operand& operand = made_operand(lowering, *value, argument);
  if (const Scaled* scaled = std::get_if<Scaled>(&operand))
    return lowering.exact_stream(*scaled, node, std::string(argument));
  return made_stream(operand, argument);
}

StreamView Call::stream_of(const Value& value, std::string_view argument) const {
  const Operand& operand = made_operand(lowering, value, argument);
  std::string port(argument);
  const formats::Format* own = format_at(*this, argument, port);
  const Scaled* scaled = std::get_if<Scaled>(&operand);
  if (scaled && own && !rounds_to_levels(*own))
    return lowering.rounded_stream(*scaled, grid_of(*own), node, port);
  const StreamView stream =
      scaled ? lowering.exact_stream(*scaled, node, port) : made_stream(operand, argument);
  if (own) return lowering.cast(stream, grid_of(*own), node, port);
  lowering.check_stream(stream.id);
  return stream;
}

Shape Call::frame_shape() const {
  const ir::ValueInfo& info = node.info.elements.empty() ? node.info : node.info.elements.front();
  if (!info.is_tensor() || info.shape.empty())
    throw Refusal{"its result is not a tensor with a batch dimension"};
  return {info.shape.begin() + 1, info.shape.end()};
}

}  // namespace mase::integer
