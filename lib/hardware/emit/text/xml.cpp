// SPDX-License-Identifier: Apache-2.0
// Printing of XML.
#include "hardware/emit/text/xml.hpp"

#include "report/chart.hpp"

namespace mase::emit {
namespace {

void add(std::string& out, const Element& element, const std::string& indent) {
  out += indent + "<" + element.name;
  for (const auto& [name, value] : element.attributes)
    out += " " + name + "=\"" + report::escaped(value) + "\"";
  if (element.inside.empty()) {
    out += ">" + report::escaped(element.text) + "</" + element.name + ">\n";
    return;
  }
  out += ">\n";
  for (const Element& part : element.inside) add(out, part, indent + "  ");
  out += indent + "</" + element.name + ">\n";
}

}  // namespace

std::string print(const Element& root) {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  add(out, root, "");
  return out;
}

}  // namespace mase::emit
