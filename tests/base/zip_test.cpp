// SPDX-License-Identifier: Apache-2.0
// Zip archives that two readers would understand in two ways, and the plain ones that we lay out.
#include <zlib.h>

#include <catch2/catch.hpp>

#include "base/zip_image.hpp"
#include "base/zip_reader.hpp"
#include "support/make_zip.hpp"
#include "support/message_of.hpp"

using namespace mase;
using namespace std::string_literals;
using Catch::Contains;
using test_zip::number;

namespace {

/// What may be wrong with the records of one entry "m/a" with the bytes "good".
struct Oddity {
  std::string before, between;            ///< bytes before the entry, and before the directory
  std::string local_name = "m/a";         ///< the directory says "m/a"
  std::string local_extra, listed_extra;  ///< extra fields
  std::uint32_t local_size = 4;           ///< the directory says 4
  std::uint64_t flags = 0;
  std::string descriptor;              ///< behind the data
  std::string entry_comment, comment;  ///< of the directory, and at the end
  std::string before_end;              ///< between directory and end record
  std::string after;                   ///< behind the end record
  int listed = 1;                      ///< how often the directory names the entry
  int counted = 1;                     ///< how many entries the end record counts
};

std::string archive_of(const Oddity& odd) {
  const std::string data = "good";
  const auto fields = [&](std::uint32_t size, std::size_t name, std::size_t extra) {
    return number(20, 2) + number(odd.flags, 2) + number(0, 6) + number(test_zip::crc32(data), 4) +
           number(size, 4) + number(size, 4) + number(name, 2) + number(extra, 2);
  };
  std::string file = odd.before;
  const std::size_t local = file.size();
  file += "PK\x03\x04" + fields(odd.local_size, odd.local_name.size(), odd.local_extra.size()) +
          odd.local_name + odd.local_extra + data + odd.descriptor + odd.between;
  std::string directory;
  for (int i = 0; i < odd.listed; ++i)
    directory += "PK\x01\x02" + number(20, 2) + fields(4, 3, odd.listed_extra.size()) +
                 number(odd.entry_comment.size(), 2) + number(0, 8) + number(local, 4) + "m/a" +
                 odd.listed_extra + odd.entry_comment;
  const auto counted = static_cast<std::uint64_t>(odd.counted);
  return file + directory + odd.before_end + "PK\x05\x06" + number(0, 4) + number(counted, 2) +
         number(counted, 2) + number(directory.size(), 4) + number(file.size(), 4) +
         number(odd.comment.size(), 2) + odd.comment + odd.after;
}

std::string refusal_of(const std::string& bytes) {
  return test::message_of(Fault::file, [&] { ZipReader::open_bytes(bytes, "odd.zip"); });
}

std::string deflated(const std::string& bytes) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
  std::string out(compressBound(bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// An archive of `count` packed entries that claim the same number of unpacked bytes each.
std::string packed_archive(int count, const std::string& packed, std::uint64_t claimed) {
  std::string file, directory;
  for (int i = 0; i < count; ++i) {
    const std::string name = "m/" + std::to_string(i);
    const std::string fields = number(20, 2) + number(0, 2) + number(8, 2) + number(0, 4) +
                               number(test_zip::crc32("text"), 4) + number(packed.size(), 4) +
                               number(claimed, 4) + number(name.size(), 2) + number(0, 2);
    directory +=
        "PK\x01\x02" + number(20, 2) + fields + number(0, 10) + number(file.size(), 4) + name;
    file += "PK\x03\x04" + fields + name + packed;
  }
  return file + directory + "PK\x05\x06" + number(0, 4) +
         number(static_cast<std::uint64_t>(count), 2) +
         number(static_cast<std::uint64_t>(count), 2) + number(directory.size(), 4) +
         number(file.size(), 4) + number(0, 2);
}

/// The end records of large files, which say where the directory is once more.
std::string wide_end(std::uint64_t position, std::uint64_t size, std::uint64_t offset) {
  return "PK\x06\x06" + number(44, 8) + number(45, 2) + number(45, 2) + number(0, 8) +
         number(1, 8) + number(1, 8) + number(size, 8) + number(offset, 8) + "PK\x06\x07" +
         number(0, 4) + number(position, 8) + number(1, 4);
}

}  // namespace

TEST_CASE("a plain archive is read, with padding, times and sizes after the data", "[zip]") {
  Oddity odd;
  CHECK(ZipReader::open_bytes(archive_of(odd), "a").read(0) == "good");
  odd.local_extra = "FB" + number(3, 2) + "ZZZ";                  // PyTorch's padding
  odd.listed_extra = "UT" + number(5, 2) + std::string(5, '\0');  // zip's times
  odd.flags = 8;
  const std::string sizes = number(test_zip::crc32("good"), 4) + number(4, 4) + number(4, 4);
  for (const std::string& mark : {"PK\x07\x08"s, ""s}) {
    odd.descriptor = mark + sizes;
    CHECK(ZipReader::open_bytes(archive_of(odd), "a").read(0) == "good");
  }
}

TEST_CASE("bytes that no entry covers are refused", "[zip]") {
  Oddity odd;
  odd.before = "MZ";
  CHECK_THAT(refusal_of(archive_of(odd)), Contains("first 2 bytes belong to no entry"));
  odd = {};
  odd.between = test_zip::zip_of({{"m/hidden", "x"}}).substr(0, 39);  // no directory names it
  CHECK_THAT(refusal_of(archive_of(odd)), Contains("followed by 39 bytes that belong to no entry"));
  odd = {};
  odd.descriptor = "PK\x07\x08" + number(1, 4) + number(4, 4) + number(4, 4);
  odd.flags = 8;
  CHECK_THAT(refusal_of(archive_of(odd)), Contains("belong to no entry"));
  odd = {};
  odd.before_end = "x";
  CHECK_THAT(refusal_of(archive_of(odd)), Contains("does not end where its end record begins"));
  odd = {};
  odd.after = "x";
  CHECK_THAT(refusal_of(archive_of(odd)), Contains("followed by 1 bytes"));
  odd = {};
  odd.comment = "x";
  CHECK_THAT(refusal_of(archive_of(odd)), Contains("followed by 1 bytes, a comment"));
  odd = {};
  odd.entry_comment = "x";
  CHECK_THAT(refusal_of(archive_of(odd)), Contains("has a comment"));
}

TEST_CASE("an archive with two directories is refused, whichever is found first", "[zip]") {
  const std::string one = archive_of({}), other = test_zip::zip_of({{"m/b", "evil"}});
  CHECK_THAT(refusal_of(one + other), Contains("does not end where its end record begins"));
  Oddity odd;
  odd.comment = other;  // readers that search from the end find the one inside of the comment
  CHECK_THAT(refusal_of(archive_of(odd)), Contains("damaged archive"));
  // The second end record stands right behind the first, and its directory is the first's.
  CHECK_THAT(refusal_of(one + one.substr(one.size() - 22)), Contains("damaged archive"));
}

TEST_CASE("end records of large files say the same as the usual one", "[zip]") {
  const std::string plain = archive_of({});
  const std::string body = plain.substr(0, plain.size() - 22), end = plain.substr(body.size());
  const std::uint64_t offset = 37, size = body.size() - offset;
  CHECK(ZipReader::open_bytes(body + wide_end(body.size(), size, offset) + end, "a").read(0) ==
        "good");
  CHECK_THAT(refusal_of(body + wide_end(body.size(), size - 1, offset + 1) + end),
             Contains("two end records differ"));
  CHECK_THAT(refusal_of(body + wide_end(0, size, offset) + end),
             Contains("not right before its end record"));
}

TEST_CASE("an entry with two different descriptions is refused", "[zip]") {
  Oddity odd;
  odd.local_name = "m/b";
  CHECK_THAT(refusal_of(archive_of(odd)), Contains("\"m/a\" has two different descriptions"));
  odd = {};
  odd.local_size = 3;
  CHECK_THAT(refusal_of(archive_of(odd)), Contains("two different descriptions"));
  odd = {};
  odd.listed_extra = "up" + number(8, 2) + "\x01" + number(test_zip::crc32("m/a"), 4) + "m/b";
  CHECK_THAT(refusal_of(archive_of(odd)), Contains("unknown extra field"));
  odd = {};
  odd.local_size = 0xFFFFFFFF;
  odd.local_extra = number(1, 2) + number(16, 2) + number(4, 8) + number(4, 8);
  CHECK(ZipReader::open_bytes(archive_of(odd), "a").read(0) == "good");
  odd.local_extra = number(1, 2) + number(16, 2) + number(3, 8) + number(3, 8);
  CHECK_THAT(refusal_of(archive_of(odd)), Contains("two different descriptions"));
  odd.local_extra += number(1, 2) + number(16, 2) + number(4, 8) + number(4, 8);
  CHECK_THAT(refusal_of(archive_of(odd)), Contains("two zip64 fields"));
}

TEST_CASE("entries that share bytes, and counts that are wrong, are refused", "[zip]") {
  Oddity odd;
  odd.listed = odd.counted = 2;
  CHECK_THAT(refusal_of(archive_of(odd)), Contains("damaged archive"));
  odd.listed = 1;
  CHECK_THAT(refusal_of(archive_of(odd)), Contains("has 1 entries, not 2"));
  CHECK_THAT(refusal_of(test_zip::zip_of({{"m/a\0b"s, "x"}})), Contains("unusual name"));
}

TEST_CASE("the unpacked size of packed entries is bounded for the whole archive", "[zip]") {
  const std::string text = deflated("text");
  const auto read = [&](const std::string& packed, std::uint64_t claimed) {
    return test::message_of(Fault::file, [&] {
      ZipReader::open_bytes(packed_archive(1, packed, claimed), "odd.zip").read(0);
    });
  };
  CHECK(ZipReader::open_bytes(packed_archive(2, text, 4), "a").read(1) == "text");
  const std::string wrong_size = "does not unpack to the size that it states";
  CHECK_THAT(read(text, 5), Contains(wrong_size));
  CHECK_THAT(read(text, 3), Contains(wrong_size));
  CHECK_THAT(read(text + "x", 4), Contains(wrong_size));
  CHECK_THAT(read(deflated("tex!"), 4), Contains("CRC-32 differs"));
  CHECK_THAT(read(text, 1 << 20), Contains("claims an impossible unpacked size"));
  // Deflate packs zeros a thousand times, so that these sizes are possible; two are within the
  // limit.
  const std::string packed(100'000, '\0');
  ZipReader::open_bytes(packed_archive(2, packed, 100'000'000), "a");
  CHECK_THAT(
      refusal_of(packed_archive(3, packed, 100'000'000)),
      Contains("300000000 bytes, more than the limit of 256 MiB") && Contains("numpy.savez"));
}

TEST_CASE("an image is an archive of the same bytes, wherever it is read", "[zip]") {
  const std::string large(1000, 'x');
  ZipImage image;
  image.add("m/a", "good", test_zip::crc32("good"));
  image.add("m/empty", "", 0);
  image.add("m/large", large, test_zip::crc32(large));
  image.finish();
  std::string whole(image.size(), '\0');
  REQUIRE(image.read(0, whole.data(), whole.size() + 5) == whole.size());
  const ZipReader archive = ZipReader::open_bytes(whole, "image");
  REQUIRE(archive.entries().size() == 3);
  CHECK(archive.entries()[0].name == "m/a");
  CHECK(archive.read(0) == "good");
  CHECK(archive.read(1).empty());
  CHECK(archive.read(2) == large);
  for (std::size_t at = 0; at <= whole.size(); ++at) {
    std::string part(7, '\0');
    part.resize(image.read(at, part.data(), part.size()));
    REQUIRE(part == whole.substr(at, 7));
  }
}
