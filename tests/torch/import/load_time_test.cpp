// SPDX-License-Identifier: Apache-2.0
// What LibTorch would do with a file before anybody runs its model: code that it evaluates on
// loading, and pickles that it might understand in another way than the checks did.
#include "torch/catch.hpp"

#include <torch/csrc/jit/api/module.h>

#include "base/error.hpp"
#include "base/random.hpp"
#include "checkpoint/archive.hpp"
#include "pickle/read_pickle.hpp"
#include "support/make_zip.hpp"
#include "support/message_of.hpp"
#include "torch/fixtures.hpp"
#include "torch/import/load_module.hpp"

using namespace mase;
using namespace mase::test;
using pickle::PickleItem;

namespace {

test_zip::Entries entries_of(const std::string& path) {
  const ZipReader archive = ZipReader::open_file(path);
  test_zip::Entries entries;
  for (std::size_t i = 0; i < archive.entries().size(); ++i)
    if (!archive.entries()[i].name.ends_with(".debug_pkl"))
      entries.emplace_back(archive.entries()[i].name, archive.read(i));
  return entries;
}

/// The entry whose name ends so.
std::string& entry(test_zip::Entries& entries, const std::string& ending) {
  for (auto& [name, bytes] : entries)
    if (name.ends_with(ending)) return bytes;
  FAIL("no entry " << ending);
  return entries.front().second;
}

torch::jit::Module load(const test_zip::Entries& entries) {
  const test_zip::TemporaryFile file(test_zip::zip_of(entries));
  return libtorch::load_module(checkpoint::open_model(file.path));
}

/// The words with which a class is refused that has `line` among its attributes, or a method with
/// this argument.
std::string refusal_of_class(const std::string& line, const std::string& argument = "") {
  test_zip::Entries entries = entries_of(fixture("jsc_tiny", "script").path);
  std::string& code = entry(entries, "batchnorm.py");
  code += "class Other(Module):\n  training : bool\n" + line + "  def more(self: Tensor" +
          argument + ") -> int:\n    return 1\n";
  try {
    load(entries);
  } catch (const Error& error) {
    CHECK(error.fault() == Fault::unsupported);
    return error.what();
  }
  return "";
}

/// All tensors below an object, by path.
void collect(const PickleItem& object, const std::string& prefix,
             std::map<std::string, const PickleItem*>& tensors) {
  for (const auto& [name, value] : object.entries) {
    if (value->kind == PickleItem::Kind::object) collect(*value, prefix + name + ".", tensors);
    if (value->kind == PickleItem::Kind::tensor) tensors.emplace(prefix + name, value);
  }
}

/// Whether LibTorch loads the archive; then its tensors must lie where our reader saw them.
bool reads_alike(const test_zip::Entries& entries) {
  torch::jit::Module module;
  try {
    module = load(entries);
  } catch (const std::exception&) {
    return false;
  }
  test_zip::Entries copy = entries;
  const auto pickle = pickle::read_pickle(entry(copy, "/data.pkl"), "p", pickle::PickleOf::module);
  std::map<std::string, const PickleItem*> seen;
  collect(*pickle.result, "", seen);
  for (const auto& [name, tensor] : module.named_attributes()) {
    if (!tensor.isTensor()) continue;
    INFO(name);
    const at::Tensor& loaded = tensor.toTensor();
    const auto found = seen.find(name);
    REQUIRE(found != seen.end());
    CHECK(loaded.sizes() == at::IntArrayRef(found->second->shape));
    CHECK(loaded.strides() == at::IntArrayRef(found->second->strides));
    CHECK(loaded.storage_offset() == found->second->integer);
  }
  return true;
}

}  // namespace

TEST_CASE("literals as defaults and constants of classes are loaded") {
  CHECK(
      refusal_of_class("  a : Final[int] = -1\n  b : Final[Tuple[int, int]] = (1, 2)\n"
                       "  c : Final[List[str]] = [\"x\"]\n  d : Final[float] = inf\n"
                       "  __annotations__[\"0\"] = __torch__.torch.nn.modules.activation.ReLU\n",
                       ", x: int=1, y: Optional[Tensor]=None, z: List[int]=annotate(List[int], [])"
                       ", d: Device=torch.device(\"cpu\"), f: float=float(\"inf\")")
          .empty());
}

TEST_CASE("code that LibTorch would evaluate while it loads a file is refused") {
  using Catch::Contains;
  const std::string code = "code that would run while the file is loaded";
  for (const std::string& value :
       {"torch.from_file(\"/etc/passwd\", False, 8)", "ops.aten.ones([1000000000000])",
        "[0] * 1000000000", "\"a\".ljust(1000000000)", "[i for i in range(9)]", "1 // 0",
        "getattr(self, \"x\")", "1 if True else 2", "torch.device(\"cpu\").type()"}) {
    INFO(value);
    CHECK_THAT(refusal_of_class("  a : Final[int] = " + value + "\n"), Contains(code));
    CHECK_THAT(refusal_of_class("", ", x: int=" + value),
               Contains(code) && Contains("batchnorm.py:"));
  }
  CHECK_THAT(refusal_of_class("  torch.zeros([1])\n"), Contains(code));
}

TEST_CASE("__setstate__ is found however its definition is written") {
  using Catch::Contains;
  for (const std::string& between : {"  ", "\t", " \\\n  ", " \\\n\t\\\n"}) {
    const std::string method =
        "  def" + between +
        "__setstate__(self: Tensor, state: int) -> NoneType:\n    return None\n";
    CHECK_THAT(refusal_of_class(method), Contains("__setstate__"));
  }
}

TEST_CASE("our reader and LibTorch understand a pickle alike, or one refuses it") {
  const test_zip::Entries original = entries_of(fixture("functional_ops", "script").path);
  REQUIRE(reads_alike(original));
  Random random(44);
  // Instructions that change what follows, and numbers.
  const std::vector<std::string> parts{"K\x07", "M\x10\x27", "\x88",  "\x89", "N", ")", "]", "}",
                                       "(",     "t",         "\x85",  "\x86", "R", "b", "u", "e",
                                       "q\x03", "h\x03",     "h\x05", "\x81", "Q", "s", "a", "0"};
  int loaded = 0;
  for (int i = 0; i < 600; ++i) {
    test_zip::Entries entries = original;
    std::string& pickle = entry(entries, "/data.pkl");
    const std::size_t at = 2 + random.below(pickle.size() - 3);
    const std::string& part = parts[random.below(parts.size())];
    if (i % 3 == 0) pickle[at] = static_cast<char>(random.below(256));
    if (i % 3 == 1) pickle.insert(at, part);
    if (i % 3 == 2) pickle.replace(at, part.size(), part);
    INFO("mutation " << i << " at " << at);
    loaded += reads_alike(entries) ? 1 : 0;
  }
  CHECK(loaded > 0);
}

TEST_CASE("code that is nested deeper than the stack of a parser is refused") {
  using Catch::Contains;
  const auto repeated = [](const std::string& part, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += part;
    return all;
  };
  const auto body = [&](const std::string& statement) {
    return refusal_of_class("  def deep(self: Tensor, x: Tensor) -> int:\n" + statement +
                            "    return 1\n");
  };
  constexpr int times = 100'000;
  const std::string deep = "nested more than 256 levels deep";
  for (const std::string& expression :
       {repeated("(", times) + "x" + repeated(")", times), "x" + repeated(" + x", times),
        repeated("-", times) + "x", repeated("not ", times) + "True", "x" + repeated("[0]", times),
        "x" + repeated(".add(x)", times), "2" + repeated(" ** 2", times),
        repeated("[", times) + repeated("]", times), "x" + repeated(" if True else x", times)})
    CHECK_THAT(body("    y = " + expression + "\n"), Contains(deep));
  CHECK_THAT(body("    if True:\n      y = 1\n" + repeated("    elif True:\n      y = 1\n", times)),
             Contains(deep));
  std::string blocks;
  for (int i = 0; i < 300; ++i)
    blocks += std::string(4 + static_cast<std::size_t>(i), ' ') + "if True:\n";
  CHECK_THAT(body(blocks + std::string(304, ' ') + "y = 1\n"), Contains(deep));
  // What is wide is not deep.
  CHECK(body("    y = [" + repeated("(1 + 2) * -3, ", 1000) + "]\n").empty());
  CHECK(body(repeated("    y = x + x\n", 1000)).empty());
}
