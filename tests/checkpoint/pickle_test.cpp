// SPDX-License-Identifier: Apache-2.0
// Pickles that are small and ask for a lot, or whose numbers make no sense.
#include <catch2/catch.hpp>

#include "checkpoint/archive.hpp"
#include "pickle/read_pickle.hpp"
#include "support/make_zip.hpp"
#include "support/message_of.hpp"

using namespace mase;
using namespace std::string_literals;
using Catch::Contains;
using test_zip::number;

namespace {

std::string text(const std::string& value) {
  return "X" + number(static_cast<std::uint32_t>(value.size()), 4) + value;
}
std::string integer(std::int64_t value) {
  return "\x8a\x08" + number(static_cast<std::uint64_t>(value), 8);
}

/// The storage "0" of 16 elements; its class and device are those of float32 on the CPU.
std::string storage_of(const std::string& type = "ctorch\nFloatStorage\n",
                       const std::string& device = "cpu") {
  return "(" + text("storage") + type + text("0") + text(device) + integer(16) + "tQ";
}

/// A tensor of the storage "0", float32.
std::string tensor(std::int64_t offset, const std::string& shape, const std::string& strides) {
  return "ctorch._utils\n_rebuild_tensor_v2\n(" + storage_of() + integer(offset) + shape + strides +
         "tR";
}

const std::string two_by_four = "(" + integer(2) + integer(4) + "t";
const std::string four_by_one = "(" + integer(4) + integer(1) + "t";

/// A tensor as torch.jit.save writes it, with these parts.
std::string written(const std::string& storage, const std::string& offset, const std::string& shape,
                    const std::string& strides, const std::string& more = "") {
  return "ctorch._utils\n_rebuild_tensor_v2\n(" + storage + offset + shape + strides + "\x89" +
         "ccollections\nOrderedDict\n)R" + more + "tR";
}
std::string sized(const std::string& shape) {
  return written(storage_of(), integer(0), shape, four_by_one);
}

/// A module with the attribute "w".
std::string module_of(const std::string& value, const std::string& before = "") {
  return before + "c__torch__\nM\n)\x81}(" + text("w") + value + "ub.";
}

std::string tagged(const std::string& value, const std::string& type) {
  return "ctorch.jit._pickle\nrestore_type_tag\n(" + value + text(type) + "tR";
}

/// What is wrong with a pickle that LibTorch will read, too.
std::string refusal_of_pickle(const std::string& pickle) {
  return test::message_of(Fault::file,
                          [&] { pickle::read_pickle(pickle, "p", pickle::PickleOf::module); });
}
const std::string nothing = "(nothing was thrown)";

std::map<std::string, Array> state_dict_of(const std::string& pickle, std::size_t storage = 64) {
  const test_zip::TemporaryFile file(test_zip::zip_of(
      {{"m/data.pkl", pickle}, {"m/data/0", std::string(storage, '\0')}, {"m/version", "3\n"}}));
  return checkpoint::read_state_dict(checkpoint::open_tensors(file.path).archive);
}

std::string repeated(const std::string& part, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += part;
  return all;
}

}  // namespace

TEST_CASE("an attribute of an enum is refused by the enum's name", "[checkpoint]") {
  const std::string color = "c__torch__.nets\nColor\n" + integer(2) + "R";
  CHECK_THAT(test::message_of(
                 Fault::unsupported,
                 [&] { pickle::read_pickle(module_of(color), "p", pickle::PickleOf::module); }),
             Contains("is of the enum 'Color'") && Contains("torch.jit.freeze"));
}

TEST_CASE("the stride of a dimension of one element may be any number", "[checkpoint]") {
  const std::string one = "(" + integer(1) + "t";
  const std::string huge = "(" + integer(INT64_MAX) + "t";
  const auto tensors = state_dict_of("\x80\x02}" + text("w") + tensor(3, one, huge) + "s.");
  CHECK(tensors.at("w").shape() == Shape{1});
}

TEST_CASE("a pickle that repeats its values without end is refused", "[checkpoint]") {
  const auto says = [](const std::string& pickle) {
    return test::message_of(
        Fault::file, [&] { pickle::read_pickle(pickle, "p", pickle::PickleOf::state_dict); });
  };
  const std::string entries = text(std::string(10000, 'k')) + "q\x01]s";
  CHECK_THAT(says("}" + entries + repeated("h\x01]s", 1000) + "."), Contains("repeats its values"));
  const std::string state = "}q\x02(" + repeated(text("a") + "]", 1000) + "u";
  const std::string object = ")q\x03" + state + repeated("h\x03)\x81h\x02" + "b"s, 1000);
  CHECK_THAT(says(object + "."), Contains("repeats its values"));
}

TEST_CASE("tensors that share one storage more often than models do are refused", "[checkpoint]") {
  const std::string one = "(" + integer(1) + "t";
  std::string pickle = "\x80\x02}" + text("first") + tensor(0, one, one) + "q\x01s";
  for (int i = 0; i < 10; ++i) pickle += text("w" + std::to_string(i)) + "h\x01s";
  CHECK(state_dict_of(pickle + ".", 1 << 16).size() == 11);
  for (int i = 10; i < 200; ++i) pickle += text("w" + std::to_string(i)) + "h\x01s";
  CHECK_THAT(test::message_of(Fault::file, [&] { state_dict_of(pickle + ".", 1 << 16); }),
             Contains("share the storage"));
}

TEST_CASE("what torch.jit.save writes is read", "[checkpoint]") {
  const std::string list = "]("s + integer(1) + integer(2) + "e";
  const std::string ints = "ctorch.jit._pickle\nbuild_intlist\n" + list + "\x85R";
  for (const std::string& value :
       {sized(two_by_four), ints, tagged(list, "List[int]"), tagged("}", "Dict[str, int]"),
        "ctorch\ndevice\n" + text("cpu") + "\x85R", "N"s, "\x88q" + number(0, 1),
        "c__torch__.a\nB\n)\x81}b"s})
    CHECK(refusal_of_pickle(module_of(value)) == nothing);
  const auto pickle =
      pickle::read_pickle(module_of(sized(two_by_four)), "p", pickle::PickleOf::module);
  REQUIRE(pickle.result->entries.size() == 1);
  CHECK(pickle.result->entries[0].second->shape == Shape{2, 4});
}

// LibTorch takes a list for sizes, a type's number for a type, and the sizes of a list with a tag;
// this reader had taken no sizes at all there.
TEST_CASE("numbers of a tensor that LibTorch would understand in another way are refused",
          "[checkpoint]") {
  const std::string list = "]("s + integer(2) + integer(4) + "e";
  const std::string no_tuple = "not a tuple of integers";
  CHECK_THAT(refusal_of_pickle(module_of(sized(list))), Contains(no_tuple));
  CHECK_THAT(
      refusal_of_pickle(module_of(sized("ctorch.jit._pickle\nbuild_intlist\n" + list + "\x85R"))),
      Contains(no_tuple));
  CHECK_THAT(refusal_of_pickle(module_of(sized(tagged(two_by_four, "Tuple[int, int]")))),
             Contains("a type on something else than a list or dict"));
  CHECK_THAT(refusal_of_pickle(module_of(sized("(\x88\x88t"))), Contains(no_tuple));
  CHECK_THAT(refusal_of_pickle(module_of(sized("(ctorch\nFloatStorage\n" + integer(4) + "t"))),
             Contains(no_tuple));
  CHECK_THAT(refusal_of_pickle(module_of(written(storage_of(), "\x89", two_by_four, four_by_one))),
             Contains("without storage and offset"));
  CHECK_THAT(refusal_of_pickle(
                 module_of(written(storage_of(integer(7)), integer(0), two_by_four, four_by_one))),
             Contains("an unknown storage"));
  CHECK_THAT(refusal_of_pickle(
                 module_of(written(sized(two_by_four), integer(0), two_by_four, four_by_one))),
             Contains("without storage and offset"));
}

TEST_CASE("tensors whose values are not those of their storage are refused", "[checkpoint]") {
  const std::string negated = "}" + text("neg") + "\x88s";
  CHECK_THAT(refusal_of_pickle(
                 module_of(written(storage_of(), integer(0), two_by_four, four_by_one, negated))),
             Contains("unusual arguments"));
  const std::string python =
      "}" + text("w") + written(storage_of(), integer(0), two_by_four, four_by_one, negated) + "s.";
  CHECK_THAT(test::message_of(Fault::file, [&] { state_dict_of(python); }),
             Contains("negated or conjugated"));
  CHECK_THAT(refusal_of_pickle(module_of(written(storage_of("ctorch\nFloatStorage\n", "meta"),
                                                 integer(0), two_by_four, four_by_one))),
             Contains("without values"));
}

TEST_CASE("objects that LibTorch would build in another way are refused", "[checkpoint]") {
  const std::string rebuild = "ctorch._utils\n_rebuild_tensor_v2\n)\x81";
  CHECK_THAT(refusal_of_pickle(module_of(rebuild + "}b")), Contains("no TorchScript class"));
  CHECK_THAT(refusal_of_pickle("c__torch__\nM\n(}tR."), Contains("which is refused"));
  CHECK_THAT(refusal_of_pickle("c__torch__\nM\n)\x81(}tb."), Contains("not a dict of attributes"));
  CHECK_THAT(refusal_of_pickle("c__torch__\nM\n)\x81}b}b."), Contains("not a dict of attributes"));
  CHECK_THAT(refusal_of_pickle("c__torch__\nM\n)\x81q" + number(0, 1) + "}b."),
             Contains("without its state"));
  CHECK_THAT(refusal_of_pickle("c__torch__\nM\n)\x81" + "}("s + text("w") + "N" + text("w") +
                               "\x88" + "ub."),
             Contains("the attribute 'w' twice"));
  CHECK_THAT(test::message_of(Fault::unsupported,
                              [] {
                                pickle::read_pickle(
                                    "c__torch__.torch.classes.quantized\nConv2d\n)\x81}b.", "p",
                                    pickle::PickleOf::module);
                              }),
             Contains("LibTorch's own class"));
}

TEST_CASE("a number that a value is kept under is the next one", "[checkpoint]") {
  CHECK_THAT(refusal_of_pickle(module_of("Nr" + number(400'000'000, 4))), Contains("unusual way"));
  CHECK_THAT(refusal_of_pickle(module_of("Nq" + number(0, 1) + "q" + number(0, 1))),
             Contains("unusual way"));
  const std::string python = "}" + text("w") + "Nr" + number(400'000'000, 4) + "s.";
  CHECK_THAT(test::message_of(Fault::file, [&] { state_dict_of(python); }),
             Contains("under the number 400000000") && Contains("has only"));
}

TEST_CASE("values that change after they were used, or are left over, are refused",
          "[checkpoint]") {
  const std::string kept = "]q" + number(0, 1);
  CHECK_THAT(refusal_of_pickle(module_of(kept + "(" + integer(1) + "e")),
             Contains("fills a list twice"));
  CHECK_THAT(refusal_of_pickle(module_of("](" + integer(1) + "e(" + integer(1) + "e")),
             Contains("fills a list twice"));
  CHECK_THAT(refusal_of_pickle("N" + module_of("N")), Contains("leaves values over"));
  CHECK_THAT(refusal_of_pickle(module_of("N") + "N"), Contains("followed by 1 bytes"));
  CHECK_THAT(refusal_of_pickle("N(\x85."), Contains("a value is missing"));
}

TEST_CASE("values and types that are nested without end are refused", "[checkpoint]") {
  CHECK_THAT(refusal_of_pickle("N" + repeated("\x85", 600) + "."), Contains("nested too deeply"));
  const std::string type = repeated("List[", 60) + "int" + repeated("]", 60);
  CHECK_THAT(refusal_of_pickle(module_of(tagged("]", type))), Contains("too long or too deep"));
  std::string doubled = "Nq" + number(0, 1);  // twice as many values in each step
  for (int i = 0; i < 40; ++i)
    doubled += "h" + number(static_cast<std::uint64_t>(i), 1) + "\x86q" +
               number(static_cast<std::uint64_t>(i) + 1, 1);
  CHECK_THAT(refusal_of_pickle(doubled + "."), Contains("repeats its values"));
}
