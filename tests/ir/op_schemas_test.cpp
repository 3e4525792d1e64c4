// SPDX-License-Identifier: Apache-2.0
// Every line of the table of signatures is read as PyTorch's notation says.
#include "ir/op_schemas.hpp"

#include <catch2/catch.hpp>

namespace mase {

using ir::find_schema;
using ir::Value;

TEST_CASE("every signature is read", "[ir]") {
  for (const std::string_view line : ir::schema_lines()) {
    const std::string name = "aten::" + std::string(line.substr(0, line.find('(')));
    INFO(line);
    const ir::OpSchema* schema = find_schema(name);
    REQUIRE(schema);
    CHECK(schema->op == name);
    for (const ir::SchemaArgument& argument : schema->arguments) CHECK_FALSE(argument.name.empty());
  }
  CHECK_FALSE(find_schema("aten::no_such_operator"));
  CHECK_FALSE(find_schema("mase::getitem"));
}

TEST_CASE("arguments of signatures", "[ir]") {
  const ir::OpSchema& pool = *find_schema("aten::max_pool2d");
  REQUIRE(pool.arguments.size() == 6);
  CHECK(pool.arguments[0].is_tensor());
  CHECK_FALSE(pool.arguments[1].has_default);
  CHECK(pool.arguments[1].list_size == 2);
  CHECK(pool.arguments[2].fallback == Value::list({}));
  CHECK(pool.find("dilation")->fallback == Value(1));
  CHECK(pool.find("ceil_mode")->fallback == Value(false));
  CHECK(pool.results.size() == 1);

  const ir::OpSchema& add = *find_schema("aten::add_.Tensor");
  CHECK(add.arguments[0].changes);
  CHECK(add.arguments[0].alias == "a");
  CHECK(add.results[0].alias == "a");
  CHECK(add.find("alpha")->keyword_only);
  CHECK_FALSE(add.find("other")->changes);

  const ir::OpSchema& split = *find_schema("aten::split.Tensor");
  CHECK(split.arguments[0].alias == "a");
  CHECK(split.results[0].type == "Tensor[]");

  CHECK(find_schema("aten::gelu")->find("approximate")->fallback == Value("none"));
  CHECK(find_schema("aten::dropout")->find("p")->type == "float");
  CHECK(find_schema("aten::lstm.input")->results.size() == 3);
  CHECK(find_schema("aten::layer_norm")->find("eps")->fallback == Value(1e-5));
  CHECK(find_schema("aten::mean.dim")->find("dim")->type == "int[]?");
}

}  // namespace mase
