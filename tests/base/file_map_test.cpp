// SPDX-License-Identifier: Apache-2.0
// Mapped files, and arrays that stay in them.
#include "base/file_map.hpp"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "base/array.hpp"
#include "base/file.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

using namespace mase;
using Catch::Contains;
using mase::test::message_of;
using mase::test::TemporaryFolder;

namespace {

/// An .npy file of `count` elements whose bytes count upwards.
void put_npy(const std::string& path, const std::string& descr, int count, int item,
             const std::string& order = "False") {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': (" +
                       std::to_string(count) + ", 1), }";
  header.append(64 - (10 + header.size() + 1) % 64, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\1\0", 8);
  bytes += {static_cast<char>(header.size()), static_cast<char>(header.size() >> 8)};
  bytes += header;
  for (int i = 0; i < count * item; ++i) bytes += static_cast<char>(i % 64);
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace

TEST_CASE("a mapped file has the bytes of the file") {
  const TemporaryFolder folder;
  const std::string path = folder.file("a");
  std::ofstream(path) << "some bytes";
  const auto map = FileMap::open(path);
  REQUIRE(map);
  CHECK(map->bytes() == "some bytes");
  CHECK_NOTHROW(map->check_size());
}

TEST_CASE("a large file is copied from, and takes no memory that it must keep") {
  const TemporaryFolder folder;
  const std::string path = folder.file("a");
  std::ofstream(path) << "begin";
  std::filesystem::resize_file(path, FileMap::large + 10);  // zeros that take no room on the disk
  std::ofstream(path, std::ios::in | std::ios::ate) << "end";
  const auto map = FileMap::open(path);
  const auto copied = [&](std::size_t offset) {
    std::string text(3, '?');
    map->copy(reinterpret_cast<const std::byte*>(map->bytes().data() + offset), 3,
              reinterpret_cast<std::byte*>(text.data()));
    return text;
  };
  CHECK(copied(1) == "egi");
  CHECK(copied(FileMap::large + 10) == "end");
  CHECK(map->bytes().ends_with("end"));
  map->was_read(FileMap::large);
  CHECK(map->bytes().ends_with("end"));
  std::filesystem::resize_file(path, FileMap::large);
  CHECK_THAT(message_of(Fault::file, [&] { copied(FileMap::large + 10); }),
             Contains("now has 268435456"));
}

TEST_CASE("what cannot be mapped is told apart from what cannot be read") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("empty")).flush();
  CHECK(!FileMap::open(folder.file("empty")));
  CHECK(!FileMap::open(folder.path()));
  REQUIRE(::mkfifo(folder.file("pipe").c_str(), 0600) == 0);
  CHECK(!FileMap::open(folder.file("pipe")));
  CHECK_THAT(message_of(Fault::file, [&] { FileMap::open(folder.file("missing")); }),
             Contains("missing"));
}

TEST_CASE("a file that became shorter is named") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("a")) << "some bytes";
  const auto map = FileMap::open(folder.file("a"));
  std::filesystem::resize_file(folder.file("a"), 4);
  CHECK_THAT(message_of(Fault::file, [&] { map->check_size(); }),
             Contains("had 10 bytes and now has 4"));
}

TEST_CASE("arrays of a machine's own order stay in their file, with the same values") {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.npy");
  const auto stays = [&](const std::string& descr, int item, const std::string& order = "False") {
    put_npy(path, descr, 6, item, order);
    const Array array = map_npy(path);
    CHECK(array.same_bits(read_npy(path)));
    return array.file() != nullptr;
  };
  for (const auto& [descr, item] : {std::pair{"<f4", 4}, {"<f8", 8}, {"<i8", 8}, {"|u1", 1}})
    CHECK(stays(descr, item));
  CHECK(!stays(">f4", 4));
  CHECK(!stays("|b1", 1));
  CHECK(!stays("<f4", 4, "True"));
}

TEST_CASE("a write into a mapped array leaves its file as it is") {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.npy");
  put_npy(path, "<i4", 6, 4);
  const std::string before = read_file(path);
  Array array = map_npy(path);
  const Array other = array;
  array.mutable_span<std::int32_t>()[0] = -1;
  CHECK(!array.file());
  CHECK(other.file());
  CHECK(other.same_bits(read_npy(path)));
  CHECK(array.rows(1, 5).same_bits(other.rows(1, 5)));
  CHECK(read_file(path) == before);
}
