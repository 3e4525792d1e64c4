// SPDX-License-Identifier: Apache-2.0
// Tests of the archive checks: sound files pass, and what a file seems to be is said when it does
// not.
#include "checkpoint/archive.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/random.hpp"
#include "checkpoint/inspect.hpp"
#include "support/make_zip.hpp"
#include "test_paths.hpp"

using namespace mase;

namespace {

const std::string models = std::string(MASE_TEST_FOLDER) + "/fixtures/models/";

/// The message of the mase::Error that `action` throws; "" when it throws none.
template <class Action>
std::string refusal_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string refusal_of_bytes(const std::string& bytes) {
  const test_zip::TemporaryFile file(bytes);
  return refusal_of([&] { checkpoint::open_model(file.path); });
}

/// The entries of an archive with their contents, after all checks.
std::map<std::string, std::string> content(const std::string& bytes) {
  const ZipReader archive = ZipReader::open_bytes(bytes, "mutated");
  checkpoint::check_entries(archive);
  std::map<std::string, std::string> files;
  for (std::size_t i = 0; i < archive.entries().size(); ++i)
    files[archive.entries()[i].name] = archive.read(i);
  return files;
}

std::string mutated(const std::string& bytes, int kind, Random& random) {
  std::string copy = bytes;
  const auto place = [&] { return static_cast<std::size_t>(random.below(copy.size())); };
  switch (kind % 5) {
    case 0:
      return copy.substr(0, place());
    case 1:
      copy[place()] ^= static_cast<char>(1U << random.below(8));
      return copy;
    case 2: {
      const std::size_t first = place();
      const std::size_t last = std::min(copy.size(), first + 1 + random.below(64));
      for (std::size_t i = first; i < last; ++i) copy[i] = static_cast<char>(random.below(256));
      return copy;
    }
    case 3:
      // The directory at the end is where a reader trusts the file most.
      copy[copy.size() - 1 - random.below(std::min<std::size_t>(copy.size(), 600))] ^=
          static_cast<char>(1 + random.below(255));
      return copy;
    default:
      copy.erase(place(), 1 + random.below(16));
      return copy;
  }
}

}  // namespace

TEST_CASE("every TorchScript fixture passes, CRC of every entry included", "[checkpoint]") {
  int count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(models)) {
    if (entry.path().extension() != ".pt") continue;
    INFO(entry.path().string());
    const auto names = checkpoint::names_below_root(checkpoint::open_model(entry.path().string()));
    CHECK(std::count(names.begin(), names.end(), "data.pkl") == 1);
    CHECK(checkpoint::read_extra_files(entry.path().string()).empty());
    CHECK_FALSE(checkpoint::read_contents(entry.path().string()));
    ++count;
  }
  CHECK(count >= 20);
}

TEST_CASE("files that are no archives are refused with what they seem to be", "[checkpoint]") {
  using Catch::Contains;
  CHECK_THAT(refusal_of_bytes(""), Contains("is empty"));
  CHECK_THAT(refusal_of_bytes("\x80\x02\x8a\x0alF"), Contains("before PyTorch 1.6"));
  CHECK_THAT(refusal_of_bytes("[passes]\nx = 1\n"), Contains("a text file"));
  CHECK_THAT(refusal_of_bytes("\x93NUMPY\x01"), Contains("NumPy array"));
  CHECK_THAT(refusal_of_bytes(std::string("\x01\x02\x03", 3)), Contains("is not a model"));
  CHECK_THAT(refusal_of_bytes(std::string(257, '\0') + "ustar" + std::string(9, '\0')),
             Contains("tar file"));
  const std::string whole = read_file(models + "jsc_tiny/jsc_tiny.script.pt");
  CHECK_THAT(refusal_of_bytes(whole.substr(0, whole.size() / 2)), Contains("truncated"));
  CHECK_THAT(refusal_of([] { checkpoint::open_model("no/such/file.pt"); }),
             Contains("no such file"));
  CHECK_THAT(refusal_of([] { checkpoint::open_model(models); }), Contains("is a folder"));
}

TEST_CASE("other archives are refused with what would work", "[checkpoint]") {
  using Catch::Contains;
  CHECK_THAT(refusal_of([] { checkpoint::open_model(models + "jsc_s/jsc_s.pt2"); }),
             Contains(".pt2") && Contains("torch.jit.script"));
  const test_zip::Entries state{{"m/data.pkl", "x"}, {"m/version", "3"}, {"m/data/0", "1234"}};
  CHECK_THAT(refusal_of_bytes(test_zip::zip_of(state)),
             Contains("state_dict") && Contains("--load"));
  CHECK_THAT(refusal_of_bytes(test_zip::zip_of({{"m/readme", "x"}})), Contains("not a model"));
  CHECK_THAT(refusal_of_bytes(test_zip::zip_of({{"a/data.pkl", "x"}, {"b/code/c.py", "x"}})),
             Contains("outside the one root folder"));
  CHECK_THAT(refusal_of_bytes(test_zip::zip_of({{"m/data.pkl", "x"}, {"m/../../x", "y"}})),
             Contains("leaves the archive"));
  CHECK_THAT(refusal_of_bytes(test_zip::zip_of({{"m/data.pkl", "x"}, {"m/code/a.py", "y"}})),
             Contains("'version'"));
}

TEST_CASE("code that would run while loading is refused", "[checkpoint]") {
  const test_zip::Entries entries{
      {"m/data.pkl", "x"},
      {"m/version", "3"},
      {"m/code/__torch__/a.py", "class A(Module):\n  def __setstate__(self, s: int):\n    pass\n"}};
  CHECK_THAT(refusal_of_bytes(test_zip::zip_of(entries)),
             Catch::Contains("__setstate__") && Catch::Contains("code/__torch__/a.py"));
}

TEST_CASE("a state_dict archive is accepted where tensors are wanted", "[checkpoint]") {
  const test_zip::Entries state{{"m/data.pkl", "x"}, {"m/version", "3"}, {"m/data/0", "1234"}};
  const test_zip::TemporaryFile file(test_zip::zip_of(state));
  CHECK(checkpoint::open_tensors(file.path).kind == checkpoint::ArchiveKind::state_dict);
  CHECK(checkpoint::open_tensors(models + "toy/toy.script.pt").kind ==
        checkpoint::ArchiveKind::torchscript);
}

TEST_CASE("damaged archives give an error or the identical content, never more", "[checkpoint]") {
  for (const char* name : {"jsc_tiny/jsc_tiny.script.pt", "shared_module/shared_module.trace.pt"}) {
    const std::string bytes = read_file(models + name);
    const auto original = content(bytes);
    Random random(11);
    int refused = 0;
    for (int i = 0; i < 400; ++i) {
      const std::string copy = mutated(bytes, i, random);
      INFO(name << ", mutation " << i);
      std::map<std::string, std::string> found;
      const std::string message = refusal_of([&] {
        checkpoint::require_zip(std::string_view(copy).substr(0, 512), copy.size(), "mutated");
        found = content(copy);
      });
      refused += message.empty() ? 0 : 1;
      if (message.empty()) CHECK(found == original);
    }
    CHECK(refused > 200);
  }
}

TEST_CASE("a storage that is shorter than its tensors is refused", "[checkpoint]") {
  int cut = 0;
  for (const char* model :
       {"jsc_tiny/jsc_tiny.script.pt", "functional_ops/functional_ops.script.pt"}) {
    const std::string path = models + model;
    const ZipReader archive = ZipReader::open_file(path);
    test_zip::Entries entries;
    for (std::size_t i = 0; i < archive.entries().size(); ++i)
      entries.emplace_back(archive.entries()[i].name, archive.read(i));
    CHECK(refusal_of_bytes(test_zip::zip_of(entries)).empty());
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const std::string& name = entries[i].first;
      if (name.find("/data/") == std::string::npos && name.find("/constants/") == std::string::npos)
        continue;
      for (const std::size_t rest : {std::size_t{0}, entries[i].second.size() - 1}) {
        test_zip::Entries damaged = entries;
        damaged[i].second.resize(rest);
        CHECK_THAT(refusal_of_bytes(test_zip::zip_of(damaged)), Catch::Contains("should have"));
        ++cut;
      }
    }
  }
  CHECK(cut > 4);
}
