// SPDX-License-Identifier: Apache-2.0
// Models whose operators or arguments would make LibTorch crash, hang or read outside of tensors:
// each is refused with an error, whether the values are constants or depend on the input.
#include "torch/catch.hpp"

#include <csignal>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "base/zip_reader.hpp"
#include "ir/allowed_operators.hpp"
#include "support/make_zip.hpp"
#include "test_paths.hpp"
#include "torch/fixtures.hpp"
#include "torch/import/torchscript.hpp"

using namespace mase;
using namespace mase::test;

namespace {

/// A TorchScript file with this code as the body of forward(x), which may have more arguments.
std::string body_file(const std::string& body, const std::string& arguments = "x: Tensor") {
  const std::string from = std::string(MASE_TEST_FOLDER) + "/fixtures/programs/Raises.pt";
  const ZipReader archive = ZipReader::open_file(from);
  test_zip::Entries entries;
  for (std::size_t i = 0; i < archive.entries().size(); ++i) {
    const std::string& name = archive.entries()[i].name;
    std::string bytes(archive.read(i));
    if (name.ends_with(".debug_pkl")) continue;
    if (name.ends_with(".py")) {
      bytes.erase(bytes.find("    x: Tensor)"));
      bytes += "    " + arguments + ") -> Tensor:\n";
      for (const std::string& line : split(body, '\n')) bytes += "    " + line + "\n";
    }
    entries.emplace_back(name, bytes);
  }
  return test_zip::zip_of(entries);
}

ir::Graph import_body(const std::string& body, const std::string& arguments = "x: Tensor",
                      std::int64_t most_operators = 100'000) {
  const test_zip::TemporaryFile file(body_file(body, arguments));
  backend::ImportOptions options;
  options.inputs = {Array(DType::float32, {1, 4})};
  options.most_operators = most_operators;
  return libtorch::import_torchscript(file.path, options);
}

std::string body_refusal(const std::string& body, Fault fault,
                         const std::string& arguments = "x: Tensor",
                         std::int64_t most_operators = 100'000) {
  INFO(body);
  try {
    import_body(body, arguments, most_operators);
  } catch (const Error& error) {
    CHECK(error.fault() == fault);
    return error.what();
  }
  FAIL("not refused: " + body);
  return "";
}

/// The refusal of a call whose result is added to x.
std::string refusal_of_call(const std::string& call, const std::string& before = "") {
  return body_refusal(before + "return torch.add(x, " + call + ")", Fault::file);
}

}  // namespace

TEST_CASE("operators that are not on the list do not run") {
  for (const char* body : {
           "return torch.relu(ops.aten._reshape_alias_copy(x, [1000000000, 4], [4, 1]))",
           "return torch._batch_norm_no_update(x, torch.ones([4]), torch.ones([4]), None, None, "
           "0.5, "
           "0.)[0]",
           "return torch.add(x, torch.sum(ops.aten._convert_indices_from_csr_to_coo("
           "torch.full([2], 1000, dtype=4), torch.full([2], 0, dtype=4))))",
           "return torch.add(x, torch.sum(ops.aten.resize_as(torch.ones([2]), torch.zeros([3]))))",
           "return torch.add(x, torch.sum(torch._nested_view_from_buffer_copy(torch.ones([4]), "
           "torch.full([1, 2], 9, dtype=4), torch.full([1, 2], 1, dtype=4), torch.full([1], 0, "
           "dtype=4))))",
           "return torch.add(x, torch.sum(torch.embedding_dense_backward(torch.ones([1, 4]), "
           "torch.full([1], 300, dtype=4), 10, -1, False)))",
       }) {
    const std::string message = body_refusal(body, Fault::unsupported);
    CHECK_THAT(message, Catch::Contains("is not among the operators that models may run") &&
                            Catch::Contains("--allow-op aten::") && Catch::Contains(".py:"));
  }
}

TEST_CASE("an operator that the user allows runs") {
  const std::string body =
      "return torch.add(x, torch.sum(torch._cast_Float(torch.segment_reduce(torch.ones([2]), "
      "\"sum\", lengths=torch.full([1], 2, dtype=4)))))";
  CHECK_THAT(body_refusal(body, Fault::unsupported),
             Catch::Contains("--allow-op aten::segment_reduce"));
  ir::allow_operators({"segment_reduce"});
  CHECK_NOTHROW(import_body(body));
}

TEST_CASE("types, layouts, orders in memory and devices are looked at before LibTorch does") {
  for (const char* call :
       {"torch.clone(x, memory_format=4)", "torch.clone(torch.ones([2]), memory_format=-1)",
        "torch.zeros([2], dtype=99)", "torch.zeros([2], dtype=-1)", "torch.zeros([2], dtype=13)",
        "torch.zeros([2], layout=7)", "torch.zeros([2], layout=1)", "torch.to(x, 100)",
        "torch.full_like(x, 1., dtype=4611686018427387904)",
        "torch.softmax(x, 1, 4611686018427387904)", "torch.sum(x, dtype=57)",
        "torch.zeros([2], device=torch.device(\"meta\"))"}) {
    const std::string message =
        body_refusal(std::string("return torch.add(torch.relu(x), ") + call + ")", Fault::file);
    CHECK_THAT(message, Catch::Contains(" takes ") && Catch::Contains(", given "));
  }
}

TEST_CASE("numbers that end LibTorch are divided here, while a file is loaded and after") {
  // Python's values: the floor of the quotient and what is left; 2^63 wraps to -2^63.
  const std::string least = "(-9223372036854775807 - 1)";
  const auto result = [](const std::string& expression) {
    const ir::Graph graph = import_body("return torch.add(x, " + expression + ")");
    return evaluator_of(graph)->run({Array(DType::float32, {1, 4})})[0].second.span<float>()[0];
  };
  CHECK(result(least + " % -1") == 0);
  CHECK(result("ops.aten.divmod(" + least + ", -1)[1]") == 0);
  CHECK(result("ops.aten.gcd(" + least + ", -1)") == 1);
  CHECK(result("ops.aten.gcd(-12, 18)") == 6);
  CHECK(result("-7 % 4") == 1);
  CHECK(result("-7 // 4") == -2);
  CHECK(result(least + " // -1") == -0x1p63F);
  for (const char* body : {"return torch.add(x, 5 // 0)", "return torch.add(x, 5 % 0)",
                           "return torch.add(x, ops.aten.divmod(5, 0)[0])",
                           "return torch.add(x, torch.size(x, 1) % (torch.size(x, 0) - 1))"})
    CHECK_THAT(body_refusal(body, Fault::file), Catch::Contains("division by zero"));
}

TEST_CASE("texts and lists do not grow beyond a bound, and text is not searched for ever") {
  CHECK_THAT(body_refusal("n = ops.aten.count(\"none\", \"\")\nreturn torch.add(x, n)",
                          Fault::unsupported),
             Catch::Contains("aten::count is not among the operators"));
  CHECK_THAT(body_refusal("a = ops.aten.zfill(\"a\", 1000000000000)\nreturn torch.add(x, len(a))",
                          Fault::unsupported),
             Catch::Contains("aten::zfill is not among the operators"));
  CHECK_THAT(body_refusal("a = [1] * 1000000000\nreturn torch.add(x, len(a))", Fault::file),
             Catch::Contains("makes at most 10000000 elements"));
}

TEST_CASE("loops are unrolled up to a bound, and their import stops when it is asked to") {
  const auto nodes = [](int rounds) {
    return import_body("for i in range(" + std::to_string(rounds) +
                       "):\n  x = torch.relu(x)\nreturn x")
        .order()
        .size();
  };
  CHECK(nodes(3000) == 3002);
  CHECK_THAT(body_refusal("for i in range(1000000000):\n  x = torch.relu(x)\nreturn x",
                          Fault::unsupported, "x: Tensor", 500),
             Catch::Contains("more than 500 operators") && Catch::Contains(".py:") &&
                 Catch::Contains("--max-operators"));
  catch_interrupts();
  std::raise(SIGINT);
  body_refusal("for i in range(10):\n  x = torch.relu(x)\nreturn x", Fault::interrupted);
  catch_interrupts();
}

TEST_CASE("what a loop computes from sizes does not grow with its rounds") {
  // Written out, each of these lines is twice as long as the one before.
  std::string body = "n = torch.size(x, 0)\n";
  for (int i = 0; i < 64; ++i) body += "n = torch.sub(torch.add(n, n), n)\n";
  body += "if torch.gt(n, 0):\n  y = torch.relu(x)\nelse:\n  y = x\nreturn y";
  const ir::Graph graph = import_body(body);
  REQUIRE(graph.guards.size() == 1);
  CHECK(graph.guards[0].condition.size() < 2000);
  CHECK_THROWS_AS(evaluator_of(graph)->run({Array(DType::float32, {2, 4})}), Error);
}

TEST_CASE("a tensor that is changed in place finds the others that show its memory") {
  CHECK_THAT(
      body_refusal("y = torch.mul(x, 2)\nz = torch.diagonal(y)\n_ = torch.add_(y, 1)\nreturn "
                   "torch.mul(z, 3)",
                   Fault::unsupported),
      Catch::Contains("changed in place"));
  CHECK_NOTHROW(
      import_body("y = torch.mul(x, 2)\nfor i in range(100):\n  y = torch.add_(y, 1)\nreturn y"));
}

TEST_CASE("what LibTorch does not ask of its arguments is asked here") {
  const std::string weights =
      ", torch.zeros([12, 4]), torch.zeros([12]), torch.zeros([4, 4]), torch.zeros([4]))";
  const std::string three = "y = torch.reshape(x, [1, 1, 4])\n";
  CHECK_THAT(
      refusal_of_call("torch._native_multi_head_attention(y, y, y, 4, 0" + weights + "[0]", three),
      Catch::Contains("takes at least one head, given 0"));
  CHECK_THAT(
      refusal_of_call("torch._native_multi_head_attention(y, y, y, 4, 2, torch.zeros([12, 4]), "
                      "torch.zeros([12], dtype=11), torch.zeros([4, 4]), torch.zeros([4]))[0]",
                      three),
      Catch::Contains("of one type of floats"));
  CHECK_THAT(refusal_of_call("torch._weight_norm(x, torch.zeros([0]), 0)"),
             Catch::Contains("takes norms of the shape [1, 1], given [0]"));
  CHECK_THAT(refusal_of_call("torch.matrix_power(torch.reshape(x, [2, 2]), -9223372036854775807)"),
             Catch::Contains("takes powers from"));
  CHECK_THAT(refusal_of_call("torch.div(torch.full([4], -9223372036854775807 - 1, dtype=4), -1, "
                             "rounding_mode=\"trunc\")"),
             Catch::Contains("cannot divide the smallest integer by -1"));
  CHECK_THAT(refusal_of_call("torch.div(torch.add(torch.to(x, 4), -9223372036854775807 - 1), "
                             "torch.full([1], -1, dtype=4), rounding_mode=\"trunc\")"),
             Catch::Contains("cannot divide the smallest integer by -1"));
  CHECK_NOTHROW(import_body("return torch.div(torch.to(x, 4), -1, rounding_mode=\"trunc\")"));
}
