// SPDX-License-Identifier: Apache-2.0
// Tables of pages.
#include "report/html_page.hpp"

#include <catch2/catch.hpp>

using namespace mase::report;
using Catch::Contains;

TEST_CASE("a long cell is folded after its beginning, whole and escaped") {
  const std::string reason = "node 'a<b' " + std::string(200, 'x');
  const std::string table = html_table({"trial", "reason"}, {{"1", reason}, {"2", "short"}}, "");
  CHECK_THAT(table, Contains("<td>short</td>"));
  CHECK_THAT(table, Contains("<td><details><summary>node 'a&lt;b' xxx") ||
                        Contains("<td><details><summary>node &#39;a&lt;b&#39; xxx"));
  CHECK_THAT(table, Contains("…</summary>"));
  CHECK_THAT(table, Contains(std::string(200, 'x') + "</details></td>"));
}
