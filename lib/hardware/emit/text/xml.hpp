// SPDX-License-Identifier: Apache-2.0
// A tree of XML elements and its printer.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace mase::emit {

/// An element with a text or with elements inside; all text is escaped by `print`.
struct Element {
  std::string name, text = {};
  std::vector<Element> inside = {};
  std::vector<std::pair<std::string, std::string>> attributes = {};
};

/// A whole document, two spaces for every level.
std::string print(const Element& root);

}  // namespace mase::emit
