// SPDX-License-Identifier: Apache-2.0
// Frequencies by the rules of transformers/modeling_rope_utils.py, and the nodes that use them.
#include "huggingface/rotary.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

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
  bool truth(const char* key, bool otherwise) const {
    const Tree* found = table_.find(key);
    if (!found || found->is_null()) return otherwise;
    if (!found->is_bool())
      config_.wrong(key_, "has something else than true or false as '" + std::string(key) + "'");
    return found->as_bool();
  }
  /// The most tokens of a text before the angles were changed.
  double original_length() const {
    const auto longest = static_cast<double>(config_.size("max_position_embeddings"));
    const double length = find("original_max_position_embeddings", longest);
    if (length <= 0)
      config_.wrong(key_, "has 'original_max_position_embeddings' that is not a length");
    return length;
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
  const double length = settings.original_length();
  const double wave = 2 * std::numbers::pi / frequency;
  if (wave < length / high) return frequency;
  if (wave > length / low) return static_cast<float>(frequency / factor);
  const double smooth = (length / wave - low) / (high - low);
  return static_cast<float>((1 - smooth) * frequency / factor + smooth * frequency);
}

/// The pair whose angle turns round `turns` times within the original length.
double pair_of_turns(const RotarySettings& settings, double size, double turns) {
  return size * std::log(settings.original_length() / (turns * 2 * std::numbers::pi)) /
         (2 * std::log(settings.theta()));
}

/// YaRN (Peng et al., ICLR 2024): slow pairs are slowed down by the factor, fast ones stay as they
/// are, and those between get a share of both.
class YarnFrequencies {
 public:
  YarnFrequencies(const RotarySettings& settings, std::int64_t size)
      : factor_(settings.number("factor")) {
    const auto width = static_cast<double>(size);
    const auto turns = [&](const char* key, double usual) {
      const double given = settings.find(key, usual);
      return given == 0 ? usual : given;
    };
    double first = pair_of_turns(settings, width, turns("beta_fast", 32));
    double last = pair_of_turns(settings, width, turns("beta_slow", 1));
    if (settings.truth("truncate", true)) {
      first = std::floor(first);
      last = std::ceil(last);
    }
    first = std::max(first, 0.0);
    last = std::min(last, width - 1);
    if (first == last) last += 0.001;
    first_ = static_cast<float>(first);
    length_ = static_cast<float>(last - first);
  }
  /// What becomes of theta^(2 i / size).
  float of(std::int64_t pair, float period) const {
    const float ramp = std::clamp((static_cast<float>(pair) - first_) / length_, 0.0F, 1.0F);
    const float kept = 1 - ramp;
    return 1 / (static_cast<float>(factor_) * period) * (1 - kept) + 1 / period * kept;
  }

 private:
  double factor_;
  float first_ = 0, length_ = 1;
};

/// What cosines and sines are multiplied by.
double attention_factor(const RotarySettings& settings) {
  if (settings.type() != "yarn") return 1;
  const double factor = settings.number("factor");
  const auto scale = [&](double weight) {
    return factor <= 1 ? 1.0 : 0.1 * weight * std::log(factor) + 1;
  };
  const double weight = settings.find("mscale", 0), all_weight = settings.find("mscale_all_dim", 0);
  const double usual =
      weight != 0 && all_weight != 0 ? scale(weight) / scale(all_weight) : scale(1);
  return settings.find("attention_factor", usual);
}

/// theta^(-2 i / size) for each pair i of elements.
Array frequencies(const RotarySettings& settings, std::int64_t size) {
  const std::string type = settings.type();
  const Config& config = settings.config();
  config.require("partial_rotary_factor", 1.0);
  if (settings.find("partial_rotary_factor", 1) != 1) settings.refuse("a whole factor of 1");
  if (type != "default" && type != "linear" && type != "llama3" && type != "yarn")
    settings.refuse("a table of type default, linear, llama3 or yarn");
  constexpr std::int64_t largest_head = 1 << 16;
  if (size > largest_head)
    config.wrong("head_dim",
                 "is " + std::to_string(size) + "; the most are " + std::to_string(largest_head));
  std::optional<YarnFrequencies> yarn;
  if (type == "yarn") yarn.emplace(settings, size);
  Array values(DType::float32, {(size + 1) / 2});
  std::int64_t pair = 0;
  for (float& value : values.mutable_span<float>()) {
    const float exponent = static_cast<float>(2 * pair) / static_cast<float>(size);
    const auto period = static_cast<float>(std::pow(settings.theta(), exponent));
    value = yarn ? yarn->of(pair, period) : 1 / period;
    if (type == "linear") value /= static_cast<float>(settings.number("factor"));
    if (type == "llama3") value = llama3_frequency(settings, value);
    ++pair;
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
  const RotarySettings settings(b.config());
  const Array values = frequencies(settings, size);
  const double factor = attention_factor(settings);
  const Ref places = b.to(b.unsqueeze(positions, 2), DType::float32);
  const Ref table = b.constant(path + ".inv_freq", values);
  b.buffer(path + ".original_inv_freq", values);
  const Ref angles = b.multiply(places, b.to_device(table, DType::float32));
  const Ref both = b.cat({angles, angles}, -1);
  const Ref cosines = b.multiply(b.unary("cos", both), factor);
  const Ref sines = b.multiply(b.unary("sin", both), factor);
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
