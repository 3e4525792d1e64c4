// SPDX-License-Identifier: Apache-2.0
// Tries out the choices of a seed before the first trial.
#include <map>

#include "formats/format.hpp"
#include "passes/quantization/quantize_config.hpp"
#include "search/spaces/selector.hpp"

namespace mase::search {
namespace {

using Keys = std::vector<const Key*>;

/// The largest number of combinations of a port's keys that are tried.
constexpr std::size_t most_combinations = 100000;

/// The combinations of a port's keys with one format.
class PortCheck {
 public:
  PortCheck(const Selector& selector, const Tree& format, Keys keys, Diagnostics& diagnostics)
      : selector_(selector), format_(format), keys_(std::move(keys)), diagnostics_(diagnostics) {}

  void run() {
    std::size_t total = 1;
    for (const Key* key : keys_) {
      total *= key->choices.size();
      if (total > most_combinations) return;
    }
    for (std::size_t index = 0; index < total; ++index)
      if (!check(index)) return;
  }

 private:
  const SourceLocation& where() const { return keys_.front()->choices.front().where; }

  /// The table of combination `index`, and its keys as text.
  Tree table(std::size_t index, std::string& text) const {
    Tree table = Tree::dict();
    Tree& config = table["config"];
    add_name(format_, config);
    for (const Key* key : keys_) {
      const Tree& choice = key->choices[index % key->choices.size()];
      index /= key->choices.size();
      config[key->key] = choice;
      text += (text.empty() ? "" : ", ") + key->key + " = " + to_json(choice, -1);
    }
    return table;
  }

  bool check(std::size_t index) {
    std::string text;
    const Tree tried = table(index, text);
    Diagnostics own;
    const auto rule = passes::read_rule(selector_.name, tried, selector_.ports, own);
    if (own.has_errors()) {
      diagnostics_.error(where(), "seed of '" + selector_.name + "': " + text +
                                      " is not a format: " + own.all().front().message);
      return false;
    }
    for (const auto& [port, wanted] : rule->ports) warn_of_fraction(port, wanted.format);
    return true;
  }

  /// Warns of more fraction bits than bits, which is legal but rarely intended.
  void warn_of_fraction(const std::string& port, const formats::Format& format) {
    const Tree fields = format.fields();
    const Tree *width = fields.find("width"), *fraction = fields.find("frac_width");
    if (warned_ || !width || !fraction || !width->is_int() || !fraction->is_int()) return;
    if (fraction->as_int() <= width->as_int()) return;
    warned_ = true;
    diagnostics_.warning(where(), "seed of '" + selector_.name + "': " + port + " can become " +
                                      format.short_text() + ", with more fraction bits than bits");
  }

  const Selector& selector_;
  const Tree& format_;
  Keys keys_;
  Diagnostics& diagnostics_;
  bool warned_ = false;
};

}  // namespace

void check_combinations(const Selector& selector, Diagnostics& diagnostics) {
  for (std::size_t format = 0; format < selector.formats.size(); ++format) {
    if (leaves_alone(selector.formats[format])) continue;
    std::map<std::string, Keys> by_port;
    Keys common;
    for (const Key& key : selector.keys) {
      if (!key.formats.contains(static_cast<double>(format))) continue;
      const auto port = selector.port_of(key.key);
      (port ? by_port[*port] : common).push_back(&key);
    }
    for (auto& [port, keys] : by_port) {
      keys.insert(keys.end(), common.begin(), common.end());
      PortCheck(selector, selector.formats[format], keys, diagnostics).run();
    }
  }
}

}  // namespace mase::search
