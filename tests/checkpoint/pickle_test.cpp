// SPDX-License-Identifier: Apache-2.0
// Pickles that are small and ask for a lot, or whose numbers make no sense.
#include <catch2/catch.hpp>

#include "checkpoint/archive.hpp"
#include "checkpoint/pickle.hpp"
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

/// A tensor of the storage "0", float32.
std::string tensor(std::int64_t offset, const std::string& shape, const std::string& strides) {
  const std::string storage = "(" + text("storage") + "ctorch\nFloatStorage\n" + text("0") +
                              text("cpu") + integer(16) + "tQ";
  return "ctorch._utils\n_rebuild_tensor_v2\n(" + storage + integer(offset) + shape + strides +
         "tR";
}

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

TEST_CASE("the stride of a dimension of one element may be any number", "[checkpoint]") {
  const std::string one = "(" + integer(1) + "t";
  const std::string huge = "(" + integer(INT64_MAX) + "t";
  const auto tensors = state_dict_of("\x80\x02}" + text("w") + tensor(3, one, huge) + "s.");
  CHECK(tensors.at("w").shape() == Shape{1});
}

TEST_CASE("a pickle that repeats its values without end is refused", "[checkpoint]") {
  const auto says = [](const std::string& pickle) {
    return test::message_of(Fault::file, [&] { checkpoint::read_pickle(pickle, "p"); });
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
