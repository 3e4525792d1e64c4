// SPDX-License-Identifier: Apache-2.0
// Frequencies by the rules of transformers/modeling_rope_utils.py, and the nodes that use them.
#include "huggingface/rotary.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace mase::huggingface {
namespace {

/// The settings of one model: a table `rope_parameters`, or up to version 4 of transformers
/// `rope_theta` and a table `rope_scaling`.
class RotarySettings {
 public:
  explicit RotarySettings(const Config& config)
      : config_(config), key_(config.find("rope_parameters") ? "rope_parameters" : "rope_scaling") {
    const Tree* found = config.find(key_);
    if (found && !found->is_dict()) config.wrong(key_, "is not a table");
    if (found) table_ = *found;
  }

  const Config& config() const { return config_; }
  std::string type() const {
    for (const char* key : {"rope_type", "type"})
      if (const Tree* found = table_.find(key); found && found->is_string())
        return found->as_string();
    return "default";
  }
  double theta() const { return find("rope_theta", config_.number("rope_theta", 10000)); }
  double number(const char* key) const {
    const double none = std::nan("");
    const double value = find(key, none);
    if (std::isnan(value)) config_.wrong(key_, "has no number '" + std::string(key) + "'");
    return value;
  }
  double find(const char* key, double otherwise) const {
    const Tree* found = table_.find(key);
    if (!found || found->is_null()) return otherwise;
    if (!found->is_number())
      config_.wrong(key_, "has something else than a number as '" + std::string(key) + "'");
    return found->as_double();
  }
  [[noreturn]] void refuse(const std::string& known) const { config_.refuse(key_, known); }

 private:
  const Config& config_;
  std::string key_;
  Tree table_ = Tree::dict();
};

/// Slows down long waves, as Llama 3.1 does.
float llama3_frequency(const RotarySettings& settings, float frequency) {
  const double factor = settings.number("factor"), low = settings.number("low_freq_factor"),
               high = settings.number("high_freq_factor");
  const double length =
      settings.find("original_max_position_embeddings",
                    static_cast<double>(settings.config().size("max_position_embeddings")));
  const double wave = 2 * std::numbers::pi / frequency;
  if (wave < length / high) return frequency;
  if (wave > length / low) return static_cast<float>(frequency / factor);
  const double smooth = (length / wave - low) / (high - low);
  return static_cast<float>((1 - smooth) * frequency / factor + smooth * frequency);
}

/// theta^(-2 i / size) for each pair i of elements.
Array frequencies(const RotarySettings& settings, std::int64_t size) {
  const std::string type = settings.type();
  const Config& config = settings.config();
  config.require("partial_rotary_factor", 1.0);
  if (settings.find("partial_rotary_factor", 1) != 1) settings.refuse("a whole factor of 1");
  if (type != "default" && type != "linear" && type != "llama3")
    settings.refuse("a table of type default, linear or llama3");
  constexpr std::int64_t largest_head = 1 << 16;
  if (size > largest_head)
    config.wrong("head_dim",
                 "is " + std::to_string(size) + "; the most are " + std::to_string(largest_head));
  Array values(DType::float32, {(size + 1) / 2});
  float place = 0;
  for (float& value : values.mutable_span<float>()) {
    const float exponent = place / static_cast<float>(size);
    value = 1 / static_cast<float>(std::pow(settings.theta(), exponent));
    if (type == "linear") value /= static_cast<float>(settings.number("factor"));
    if (type == "llama3") value = llama3_frequency(settings, value);
    place += 2;
  }
  return values;
}

/// The second half of the elements, negative, before the first half.
Ref turned(Builder& b, const Ref& x) {
  const auto half = [&] { return b.host("floordiv", b.size(x, 3), 2); };
  const Ref first_end = half();
  const Ref first = b.item(x, {all(), all(), all(), Ref::slice(Ref(), first_end, Ref())});
  const Ref second_begin = half();
  const Ref second = b.item(x, {all(), all(), all(), Ref::slice(second_begin, Ref(), Ref())});
  const Ref negative = b.function("_operator.neg", "aten::neg", {{"self", second}});
  return b.cat({negative, first}, -1);
}

}  // namespace

Rotary rotary_tables(Builder& b, const std::string& path, const std::string& own_class,
                     const Ref& positions, std::int64_t size) {
  b.container(path, own_class);
  const Array values = frequencies(RotarySettings(b.config()), size);
  const Ref places = b.to(b.unsqueeze(positions, 2), DType::float32);
  const Ref table = b.constant(path + ".inv_freq", values);
  b.buffer(path + ".original_inv_freq", values);
  const Ref angles = b.multiply(places, b.to_device(table, DType::float32));
  const Ref both = b.cat({angles, angles}, -1);
  const Ref cosines = b.multiply(b.unary("cos", both), 1.0);
  const Ref sines = b.multiply(b.unary("sin", both), 1.0);
  const Ref cosines32 = b.to(cosines, DType::float32);
  return {cosines32, b.to(sines, DType::float32)};
}

void rotate(Builder& b, const Rotary& tables, Ref& query, Ref& key) {
  const Ref cosines = b.unsqueeze(tables.cosines, 1);
  const Ref sines = b.unsqueeze(tables.sines, 1);
  for (Ref* x : {&query, &key}) {
    const Ref along = b.multiply(*x, cosines);
    *x = b.add(along, b.multiply(turned(b, *x), sines));
  }
}

}  // namespace mase::huggingface
