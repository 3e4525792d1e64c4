// SPDX-License-Identifier: Apache-2.0
// Rows of images in other sizes. What ATen's upsampling computes is one node; every other mode is
// an index or a product with a constant matrix for each axis.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>

#include "base/text.hpp"
#include "onnx/import/importer.hpp"
#include "onnx/import/resampling.hpp"
#include "onnx/import/rows.hpp"
#include "onnx/import/steps.hpp"

namespace mase::onnx {
namespace {

/// The constants of a call: numbers for the axes that it names, in their order.
struct Resize {
  std::string mode;
  std::vector<std::int64_t> axes;
  std::vector<double> scales, region;  ///< one, or two, per axis; empty if not given
  std::vector<std::int64_t> sizes;     ///< one per axis; empty if not given
  std::vector<ir::Value> varying;      ///< the same where symbols of the file decide on one
};

std::vector<double> decimals(Call& call, std::size_t i) {
  if (!call.has(i)) return {};
  std::vector<double> numbers;
  for (const ir::Value& item : call.host(i).items) {
    if (!item.is_number()) call.refuse("operand '" + call.node().inputs[i] + "' must be constant");
    numbers.push_back(item.as_double());
  }
  return numbers;
}

/// Whether a node reads the size of the operand along an axis.
bool is_own_size(Call& call, const ir::Value& size, std::int64_t axis) {
  if (!size.is_node()) return false;
  const ir::Node& node = call.importer().graph().node(size.node());
  const ir::Value* self = node.find("self");
  const ir::Value* dim = node.find("dim");
  return node.op == "aten::size.int" && self && dim && *self == call.ref(0) &&
         *dim == ir::Value(axis);
}

/// Sizes of the axes; axes that keep their own size, as the batch does, are left out.
void read_sizes(Call& call, Resize& resize) {
  const std::vector<ir::Value> given = call.sizes(3);
  if (given.size() != resize.axes.size()) call.wrong("its sizes are not one per axis");
  const std::vector<std::int64_t> axes = std::move(resize.axes);
  resize.axes.clear();
  std::vector<ir::Value> sizes;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (is_own_size(call, given[i], axes[i])) continue;
    resize.axes.push_back(axes[i]);
    sizes.push_back(given[i]);
  }
  if (std::ranges::any_of(sizes, &ir::Value::is_node)) {
    resize.varying = std::move(sizes);
    return;
  }
  for (const ir::Value& size : sizes) resize.sizes.push_back(size.as_int());
}

/// ONNX allows no scale of zero or below, and runtimes refuse it.
void check_scales(Call& call, const Resize& resize) {
  for (std::size_t i = 0; i < resize.scales.size(); ++i)
    if (!(resize.scales[i] > 0))
      call.wrong("its scale along axis " + std::to_string(resize.axes[i]) + " is " +
                 double_text(resize.scales[i]) +
                 ", but scales must be above 0; PyTorch's newer exporter writes -1 for an "
                 "interpolation of a ScriptModule: export that with dynamo=False");
}

Resize read_resize(Call& call) {
  Resize resize;
  resize.mode = call.text("mode", "nearest");
  resize.axes.resize(static_cast<std::size_t>(call.rank(0)));
  std::iota(resize.axes.begin(), resize.axes.end(), 0);
  if (const auto axes = call.integers("axes")) {
    resize.axes.clear();
    for (const std::int64_t axis : *axes) resize.axes.push_back(call.axis(axis, call.rank(0)));
  }
  const bool upsample = call.node().op == "Upsample";
  if (upsample || call.opset() < 11) {
    resize.scales = upsample && call.opset() < 9
                        ? call.numbers("scales").value_or(std::vector<double>{})
                        : decimals(call, 1);
  } else {
    resize.region = decimals(call, 1);
    resize.scales = decimals(call, 2);
    if (call.has(3) && resize.scales.empty()) read_sizes(call, resize);
  }
  if (resize.axes.empty() || std::max({resize.scales.size(), resize.sizes.size(),
                                       resize.varying.size()}) != resize.axes.size())
    call.wrong("its scales or sizes are not one per axis");
  check_scales(call, resize);
  return resize;
}

constexpr std::array<std::string_view, 7> coordinate_modes{
    "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",  "align_corners",
    "asymmetric", "tf_crop_and_resize",   "tf_half_pixel_for_nn"};
constexpr std::array<std::string_view, 4> nearest_modes{"round_prefer_floor", "round_prefer_ceil",
                                                        "floor", "ceil"};

void check_known(Call& call, const std::string& attribute, const std::string& word,
                 std::span<const std::string_view> words) {
  if (std::ranges::find(words, word) == words.end())
    call.refuse("its " + attribute + " '" + word + "' is not known");
}

/// The attributes that say where places lie.
Resampling common_part(Call& call, const Resize& resize) {
  const bool old = call.node().op == "Upsample" || call.opset() < 11;
  Resampling part;
  part.coordinates = old ? "asymmetric" : call.text("coordinate_transformation_mode", "half_pixel");
  part.nearest = old ? "floor" : call.text("nearest_mode", "round_prefer_floor");
  check_known(call, "coordinate_transformation_mode", part.coordinates, coordinate_modes);
  check_known(call, "nearest_mode", part.nearest, nearest_modes);
  part.cubic = resize.mode == "cubic";
  part.antialias = call.integer("antialias", 0) != 0;
  part.exclude_outside = call.integer("exclude_outside", 0) != 0;
  part.cubic_a = call.number("cubic_coeff_a", -0.75);
  return part;
}

/// With a policy, one scale for all axes keeps the ratio of the sizes.
void keep_ratio(Call& call, std::vector<Resampling>& parts) {
  const std::string policy = call.text("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch") return;
  const bool larger = policy == "not_smaller";
  double scale = parts.at(0).scale;
  for (const Resampling& part : parts)
    scale = larger ? std::max(scale, part.scale) : std::min(scale, part.scale);
  for (Resampling& part : parts) {
    part.scale = scale;
    part.out = static_cast<std::int64_t>(std::floor(scale * static_cast<double>(part.in) + 0.5));
  }
}

std::vector<Resampling> parts_of(Call& call, const Resize& resize) {
  std::vector<Resampling> parts;
  for (std::size_t i = 0; i < resize.axes.size(); ++i) {
    Resampling part = common_part(call, resize);
    part.in = fixed_size(call, call.tensor(0), resize.axes[i]);
    const double in = static_cast<double>(part.in);
    part.out = resize.sizes.empty() ? static_cast<std::int64_t>(std::floor(in * resize.scales[i]))
                                    : resize.sizes[i];
    part.scale = resize.sizes.empty() ? resize.scales[i] : static_cast<double>(part.out) / in;
    if (resize.region.size() == 2 * resize.axes.size()) {
      part.start = resize.region[i];
      part.end = resize.region[i + resize.axes.size()];
    }
    if (part.in <= 0 || part.out <= 0) call.refuse("a size before or after it is zero");
    parts.push_back(part);
  }
  if (!resize.sizes.empty()) keep_ratio(call, parts);
  return parts;
}

/// What ATen's operator of this mode is called, for so many dimensions; "" if it has none that
/// computes the same.
std::string upsampling(const Resize& resize, const Resampling& how, std::int64_t space) {
  if (how.antialias || how.exclude_outside || space < 1 || space > 3) return "";
  const bool centred = how.coordinates == "half_pixel" || how.coordinates == "pytorch_half_pixel";
  const std::string dims = std::to_string(space) + "d.vec";
  if (resize.mode == "nearest")
    return how.coordinates == "asymmetric" && how.nearest == "floor"
               ? "aten::upsample_nearest" + dims
               : "";
  if (!centred && how.coordinates != "align_corners") return "";
  if (resize.mode == "cubic")
    return space == 2 && how.cubic_a == -0.75 ? "aten::upsample_bicubic" + dims : "";
  constexpr std::string_view linear[] = {"linear", "bilinear", "trilinear"};
  return "aten::upsample_" + std::string(linear[space - 1]) + dims;
}

/// The scales of the space, if the batch and the channels keep their sizes.
std::optional<std::vector<ir::Value>> space_scales(const Resize& resize, std::int64_t rank) {
  std::vector<ir::Value> scales(static_cast<std::size_t>(rank), 1.0);
  for (std::size_t i = 0; i < resize.axes.size(); ++i)
    scales[static_cast<std::size_t>(resize.axes[i])] = resize.scales[i];
  if (rank < 3 || scales[0] != ir::Value(1.0) || scales[1] != ir::Value(1.0)) return std::nullopt;
  return std::vector<ir::Value>{scales.begin() + 2, scales.end()};
}

/// Scales of whole numbers, which PyTorch's layer takes, too.
std::optional<ir::NodeId> by_scales(Call& call, const Resize& resize, const Resampling& how) {
  const std::int64_t rank = call.rank(0);
  const std::string op = upsampling(resize, how, rank - 2);
  const auto scales = resize.scales.empty() ? std::nullopt : space_scales(resize, rank);
  if (op.empty() || !scales) return std::nullopt;
  const bool corners = how.coordinates == "align_corners";
  for (const ir::Value& scale : *scales)
    if (corners && std::floor(scale.as_double()) != scale.as_double()) return std::nullopt;
  std::vector<ir::Argument> args{{"input", call.ref(0)}, {"output_size", ir::Value()}};
  if (resize.mode != "nearest") args.push_back({"align_corners", corners});
  args.push_back({"scale_factors", ir::Value::list(*scales)});
  return call.emit(op, std::move(args));
}

std::optional<ir::NodeId> by_sizes(Call& call, const Resize& resize,
                                   const std::vector<Resampling>& parts) {
  const std::int64_t rank = call.rank(0);
  const std::string op = upsampling(resize, parts.at(0), rank - 2);
  if (op.empty() || resize.sizes.empty() || rank < 3) return std::nullopt;
  if (call.text("keep_aspect_ratio_policy", "stretch") != "stretch") return std::nullopt;
  const auto own = sizes_of(call, call.tensor(0));
  std::vector<ir::Value> sizes(own.begin() + 2, own.end());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (resize.axes[i] < 2 && parts[i].in != parts[i].out) return std::nullopt;
    if (parts[i].coordinates == "pytorch_half_pixel" && parts[i].out == 1) return std::nullopt;
    if (resize.axes[i] >= 2) sizes[static_cast<std::size_t>(resize.axes[i] - 2)] = parts[i].out;
  }
  std::vector<ir::Argument> args{{"input", call.ref(0)}, {"output_size", ir::Value::list(sizes)}};
  if (resize.mode != "nearest")
    args.push_back({"align_corners", parts[0].coordinates == "align_corners"});
  args.push_back({"scale_factors", ir::Value()});
  return call.emit(op, std::move(args));
}

/// Whether a size is that of the operand for all sizes of the symbols that are tried.
bool keeps_size(Call& call, const ir::Value& size, std::int64_t axis) {
  const ir::Value own = call.size(call.tensor(0), axis);
  if (!size.is_node() || !own.is_node()) return size == own;
  const Worlds& worlds = call.importer().worlds();
  const auto sizes = worlds.integers(size.node());
  return sizes && sizes == worlds.integers(own.node());
}

/// Images in the size of others, which is known when the graph runs: ATen's operator alone has it.
ir::NodeId by_varying_sizes(Call& call, const Resize& resize) {
  const Resampling how = common_part(call, resize);
  const std::int64_t rank = call.rank(0);
  const std::string op = upsampling(resize, how, rank - 2);
  const bool stretches = call.text("keep_aspect_ratio_policy", "stretch") == "stretch";
  if (op.empty() || !stretches)
    call.refuse("operand '" + call.node().inputs[3] + "' must be constant integers in this mode");
  const auto own = sizes_of(call, call.tensor(0));
  std::vector<ir::Value> sizes(own.begin() + 2, own.end());
  for (std::size_t i = 0; i < resize.axes.size(); ++i) {
    const std::int64_t axis = resize.axes[i];
    if (axis >= 2)
      sizes[static_cast<std::size_t>(axis - 2)] = resize.varying[i];
    else if (!keeps_size(call, resize.varying[i], axis))
      call.refuse("operand '" + call.node().inputs[3] + "' changes the batch or the channels");
  }
  std::vector<ir::Argument> args{{"input", call.ref(0)}, {"output_size", ir::Value::list(sizes)}};
  if (resize.mode != "nearest")
    args.push_back({"align_corners", how.coordinates == "align_corners"});
  args.push_back({"scale_factors", ir::Value()});
  return call.emit(op, std::move(args));
}

/// The last dimension times the transpose of a constant matrix.
ir::NodeId resampled(Call& call, ir::NodeId node, std::int64_t axis, const Resampling& part) {
  const auto last = static_cast<std::int64_t>(call.info(node).shape.size()) - 1;
  const auto turned = [&](ir::NodeId one) {
    return axis == last ? one
                        : call.emit("aten::transpose.int",
                                    {{"self", ref(one)}, {"dim0", axis}, {"dim1", last}});
  };
  const ir::NodeId weight =
      converted(call, constant_node(call, part.weights()), call.info(node).dtype);
  return turned(call.emit("aten::linear", {{"input", ref(turned(node))}, {"weight", ref(weight)}}));
}

ir::NodeId axis_by_axis(Call& call, const Resize& resize, const std::vector<Resampling>& parts) {
  ir::NodeId node = call.tensor(0);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Resampling& part = parts[i];
    if (part.extrapolates()) call.refuse("it extrapolates beyond its operand");
    const bool same = part.in == part.out && part.scale == 1;
    if (same && part.coordinates != "tf_crop_and_resize") continue;
    if (resize.mode != "nearest") {
      node = resampled(call, node, resize.axes[i], part);
      continue;
    }
    const ir::NodeId index = constant_node(call, Array::from(part.nearest_places(), {part.out}));
    node = call.emit("aten::index_select",
                     {{"self", ref(node)}, {"dim", resize.axes[i]}, {"index", ref(index)}});
  }
  return node;
}

/// Whether the scale 1 gives every place its own value.
bool keeps_places(const Resize& resize, Resampling how) {
  if (how.coordinates == "tf_crop_and_resize") return false;
  how.in = how.out = 2;
  how.scale = 1;
  return resize.mode == "nearest" ? how.nearest_places() == std::vector<std::int64_t>{0, 1}
                                  : how.places() == std::vector<double>{0, 1};
}

/// Scales of 1 change nothing along axes whose sizes vary, as that of the batch.
void leave_out_varying(Call& call, Resize& resize, const Resampling& how) {
  if (resize.scales.empty() || !keeps_places(resize, how)) return;
  for (std::size_t i = resize.axes.size(); i-- > 0;) {
    const auto axis = static_cast<std::size_t>(resize.axes[i]);
    if (resize.scales[i] != 1 || call.importer().worlds().fixed_size(call.tensor(0), axis))
      continue;
    const auto place = static_cast<std::ptrdiff_t>(i);
    resize.axes.erase(resize.axes.begin() + place);
    resize.scales.erase(resize.scales.begin() + place);
  }
}

void resize(Call& call) {
  Resize resize = read_resize(call);
  if (resize.mode != "nearest" && resize.mode != "linear" && resize.mode != "cubic")
    call.wrong("its mode is '" + resize.mode + "'");
  if (!resize.varying.empty()) return call.result(by_varying_sizes(call, resize));
  if (const auto node = by_scales(call, resize, common_part(call, resize)))
    return call.result(*node);
  leave_out_varying(call, resize, common_part(call, resize));
  if (resize.axes.empty()) return call.result(call.tensor(0));
  const std::vector<Resampling> parts = parts_of(call, resize);
  const auto node = by_sizes(call, resize, parts);
  call.result(node ? *node : axis_by_axis(call, resize, parts));
}

std::int64_t place_in(Call& call, const std::string& word, std::vector<std::string_view> words) {
  const auto found = std::ranges::find(words, word);
  if (found == words.end()) call.wrong("it has no mode '" + word + "'");
  return found - words.begin();
}

/// Modes have numbers in ATen's operator.
void grid_sample(Call& call) {
  std::string mode = call.text("mode", call.opset() < 20 ? "bilinear" : "linear");
  if (mode == "bilinear") mode = "linear";
  if (mode == "bicubic") mode = "cubic";
  call.result(call.emit(
      "aten::grid_sampler",
      {{"input", call.ref(0)},
       {"grid", call.ref(1)},
       {"interpolation_mode", place_in(call, mode, {"linear", "nearest", "cubic"})},
       {"padding_mode",
        place_in(call, call.text("padding_mode", "zeros"), {"zeros", "border", "reflection"})},
       {"align_corners", call.integer("align_corners", 0) != 0}}));
}

void affine_grid(Call& call) {
  call.result(call.emit("aten::affine_grid_generator",
                        {{"theta", call.ref(0)},
                         {"size", ir::Value::list(call.sizes(1))},
                         {"align_corners", call.integer("align_corners", 0) != 0}}));
}

}  // namespace

std::vector<Row> resize_rows() {
  return {
      {"Resize", 10, resize},
      {"Upsample", 7, resize},
      {"GridSample", 16, grid_sample},
      {"AffineGrid", 20, affine_grid},
  };
}

}  // namespace mase::onnx
