// SPDX-License-Identifier: Apache-2.0
// Reads the directory of a zip archive strictly (PKWARE's APPNOTE 6.3.10 has the records): two
// readers that disagree about a file would be a way past every check.
#include "base/zip_directory.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <ranges>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mase {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view local_mark = "PK\x03\x04"sv, directory_mark = "PK\x01\x02"sv,
                           end_mark = "PK\x05\x06"sv, wide_end_mark = "PK\x06\x06"sv,
                           wide_locator_mark = "PK\x06\x07"sv, descriptor_mark = "PK\x07\x08"sv;
constexpr std::size_t end_size = 22, wide_end_size = 56, wide_locator_size = 20;

/// Bits of an entry's flags.
namespace zip_flag {
constexpr std::uint64_t encrypted = 1, level = 6, has_descriptor = 8, utf8_name = 0x800;
}

/// Deflate cannot pack better than about 1032 : 1 (258 bytes in two bits).
constexpr std::uint64_t max_ratio = 1040;

/// Reads little-endian numbers one after another; reading beyond the end is an error of `origin`.
class Fields {
 public:
  Fields(std::string_view bytes, const std::string& origin) : bytes_(bytes), origin_(origin) {}

  std::string_view take(std::uint64_t count) {
    if (bytes_.size() < count) damaged_zip(origin_, "a record ends early (truncated?)");
    const std::string_view part = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return part;
  }
  std::uint64_t number(std::size_t bytes) {
    std::uint64_t value = 0;
    for (const char c : take(bytes) | std::views::reverse)
      value = value << 8 | static_cast<unsigned char>(c);
    return value;
  }
  bool accept(std::string_view mark) {
    if (!bytes_.starts_with(mark)) return false;
    take(mark.size());
    return true;
  }
  bool empty() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
  const std::string& origin_;
};

/// The fields of an entry that both its local header and the directory have.
struct Header {
  std::uint64_t version = 0, flags = 0, method = 0, crc = 0, stored_size = 0, size = 0;
  std::uint64_t name_length = 0, extra_length = 0;
};

Header read_header(Fields& fields) {
  Header header;
  header.version = fields.number(2);
  header.flags = fields.number(2);
  header.method = fields.number(2);
  fields.take(4);  // time and date
  header.crc = fields.number(4);
  header.stored_size = fields.number(4);
  header.size = fields.number(4);
  header.name_length = fields.number(2);
  header.extra_length = fields.number(2);
  return header;
}

/// True for known extra fields: sizes and offset of large files (zip64), PyTorch's and Android's
/// padding, times and owners. Other fields might change the entry, its name for example.
bool is_known_extra(std::uint64_t id) {
  constexpr std::uint64_t known[] = {0x0001, 0x4246, 0xD935, 0x5455, 0x7875, 0x000A};
  return std::ranges::find(known, id) != std::end(known);
}

/// Reads extra fields; numbers whose 32 bits are all ones take their values from the zip64 field.
void read_extras(Fields extras, std::initializer_list<std::uint64_t*> numbers,
                 const std::string& what, const std::string& origin) {
  bool seen = false;
  while (!extras.empty()) {
    const std::uint64_t id = extras.number(2);
    Fields field(extras.take(extras.number(2)), origin);
    if (!is_known_extra(id)) damaged_zip(origin, what + " has an unknown extra field");
    if (id != 1) continue;
    if (std::exchange(seen, true)) damaged_zip(origin, what + " has two zip64 fields");
    for (std::uint64_t* number : numbers)
      if (*number == in_zip64_field) *number = field.number(8);
    if (!field.empty()) damaged_zip(origin, what + " has a zip64 field of an unusual length");
  }
}

/// The place of the directory and the number of its entries.
struct Place {
  std::uint64_t count = 0, size = 0, offset = 0;
  std::uint64_t end = 0;  ///< the end of the directory, where the end records begin
};

[[noreturn]] void refuse_end(std::string_view bytes, const std::string& origin) {
  const std::size_t found = bytes.rfind(end_mark);
  if (found == std::string_view::npos)
    damaged_zip(origin, "its directory is missing at the end (truncated?)");
  damaged_zip(origin, "its end record is followed by " +
                          std::to_string(bytes.size() - std::min(found + end_size, bytes.size())) +
                          " bytes, a comment or another file, or is cut");
}

/// The end record of large files (zip64), when there is one right before the usual one.
std::optional<Place> wide_place(std::string_view bytes, std::size_t end,
                                const std::string& origin) {
  if (end < wide_locator_size + wide_end_size) return std::nullopt;
  Fields locator(bytes.substr(end - wide_locator_size, wide_locator_size), origin);
  if (!locator.accept(wide_locator_mark)) return std::nullopt;
  Place place;
  place.end = end - wide_locator_size - wide_end_size;
  const std::uint64_t disk = locator.number(4), offset = locator.number(8);
  const std::uint64_t disks = locator.number(4);
  Fields record(bytes.substr(place.end, wide_end_size), origin);
  if (disk != 0 || disks > 1 || offset != place.end || !record.accept(wide_end_mark) ||
      record.number(8) != wide_end_size - 12)
    damaged_zip(origin, "its zip64 end record is not right before its end record");
  record.take(4);  // versions
  const std::uint64_t this_disk = record.number(4), first_disk = record.number(4);
  const std::uint64_t here = record.number(8);
  place.count = record.number(8);
  place.size = record.number(8);
  place.offset = record.number(8);
  if (this_disk != 0 || first_disk != 0 || here != place.count)
    damaged_zip(origin, "it has several parts");
  return place;
}

/// True when a number of the usual end record equals that of the zip64 record, or is all ones.
bool agrees(std::uint64_t narrow, std::uint64_t wide, std::uint64_t full) {
  return narrow == wide || narrow == full;
}

Place find_directory(std::string_view bytes, const std::string& origin) {
  if (bytes.size() < end_size || !bytes.substr(bytes.size() - end_size).starts_with(end_mark))
    refuse_end(bytes, origin);
  const std::size_t end = bytes.size() - end_size;
  Fields record(bytes.substr(end + end_mark.size()), origin);
  const std::uint64_t this_disk = record.number(2), first_disk = record.number(2);
  const std::uint64_t here = record.number(2);
  Place narrow;
  narrow.count = record.number(2);
  narrow.size = record.number(4);
  narrow.offset = record.number(4);
  narrow.end = end;
  if (record.number(2) != 0) damaged_zip(origin, "it has a comment at its end");
  if (this_disk != 0 || first_disk != 0 || here != narrow.count)
    damaged_zip(origin, "it has several parts");
  const Place place = wide_place(bytes, end, origin).value_or(narrow);
  if (!agrees(narrow.count, place.count, 0xFFFF) ||
      !agrees(narrow.size, place.size, in_zip64_field) ||
      !agrees(narrow.offset, place.offset, in_zip64_field))
    damaged_zip(origin, "its two end records differ");
  if (place.offset > place.end || place.size != place.end - place.offset)
    damaged_zip(origin, "its directory does not end where its end record begins");
  return place;
}

/// Why an entry cannot be part of a sound archive; empty when it can.
std::string entry_problem(const Header& header, std::uint64_t archive_size) {
  if ((header.flags & zip_flag::encrypted) != 0) return "is encrypted";
  if ((header.flags & ~(zip_flag::level | zip_flag::has_descriptor | zip_flag::utf8_name)) != 0)
    return "has unusual flags";
  const bool packed = header.method == 8;
  if (!packed && header.method != 0) return "is packed by an unusual method";
  if (header.stored_size > archive_size) return "claims more bytes than the file has";
  if (!packed && header.size != header.stored_size) return "has two different sizes";
  if (packed && header.stored_size > in_zip64_field) return "is packed but larger than 4 GiB";
  if (packed && header.size / max_ratio > header.stored_size)
    return "claims an impossible unpacked size";
  return {};
}

bool is_plain_name(std::string_view name) {
  return !name.empty() &&
         std::ranges::all_of(name, [](unsigned char c) { return c >= 0x20 && c != 0x7F; });
}

/// An entry as the directory describes it, with the place of its local header.
struct Listed {
  ZipEntry entry;
  Header header;
  std::uint64_t local = 0;
};

Listed read_listed(Fields& fields, std::uint64_t archive_size, const std::string& origin) {
  if (!fields.accept(directory_mark)) damaged_zip(origin, "its directory has an unknown record");
  Listed listed;
  fields.take(2);  // written by
  listed.header = read_header(fields);
  const std::uint64_t comment_length = fields.number(2), disk = fields.number(2);
  fields.take(6);  // attributes
  listed.local = fields.number(4);
  listed.entry.name = fields.take(listed.header.name_length);
  const std::string what = "entry " + quote(listed.entry.name);
  if (!is_plain_name(listed.entry.name)) damaged_zip(origin, what + " has an unusual name");
  Header& header = listed.header;
  read_extras(Fields(fields.take(header.extra_length), origin),
              {&header.size, &header.stored_size, &listed.local}, what, origin);
  if (comment_length != 0) damaged_zip(origin, what + " has a comment");
  if (disk != 0) damaged_zip(origin, "it has several parts");
  const std::string problem = entry_problem(header, archive_size);
  if (!problem.empty()) damaged_zip(origin, what + " " + problem);
  listed.entry.size = header.size;
  listed.entry.stored_size = header.stored_size;
  listed.entry.packed = header.method != 0;
  listed.entry.crc = static_cast<std::uint32_t>(header.crc);
  return listed;
}

/// True for sizes and checksum after an entry whose header was written before they were known, with
/// or without a mark, of 4 or 8 bytes each. `bytes` is everything up to the next record.
bool is_descriptor(std::string_view bytes, const Header& header, const std::string& origin) {
  Fields fields(bytes, origin);
  if (bytes.size() == 16 || bytes.size() == 24) {
    if (!fields.accept(descriptor_mark)) return false;
  } else if (bytes.size() != 12 && bytes.size() != 20) {
    return false;
  }
  const std::size_t width = bytes.size() < 20 ? 4 : 8;
  return fields.number(4) == header.crc && fields.number(width) == header.stored_size &&
         fields.number(width) == header.size;
}

/// Checks the local header of an entry, whose data and descriptor must end at `end`.
void check_local(std::string_view bytes, Listed& listed, std::uint64_t end,
                 const std::string& origin) {
  const std::string what = "entry " + quote(listed.entry.name);
  Fields fields(bytes.substr(listed.local, end - listed.local), origin);
  if (!fields.accept(local_mark)) damaged_zip(origin, what + " does not begin where it should");
  Header local = read_header(fields);
  const std::string_view name = fields.take(local.name_length);
  read_extras(Fields(fields.take(local.extra_length), origin), {&local.size, &local.stored_size},
              what, origin);
  const Header& header = listed.header;
  const bool later = (header.flags & zip_flag::has_descriptor) != 0;
  const auto differs = [&](std::uint64_t here, std::uint64_t there) {
    return here != there && !(later && here == 0);
  };
  if (name != listed.entry.name || local.flags != header.flags || local.method != header.method ||
      differs(local.crc, header.crc) || differs(local.size, header.size) ||
      differs(local.stored_size, header.stored_size))
    damaged_zip(origin, what + " has two different descriptions");
  listed.entry.offset = listed.local + 30 + local.name_length + local.extra_length;
  fields.take(header.stored_size);
  const std::string_view rest = bytes.substr(listed.entry.offset + header.stored_size,
                                             end - listed.entry.offset - header.stored_size);
  if (!(rest.empty() && !later) && !(later && is_descriptor(rest, header, origin)) &&
      !(rest.empty() && header.size == 0))
    damaged_zip(origin, what + " is followed by " + std::to_string(rest.size()) +
                            " bytes that belong to no entry");
}

/// Entries must follow each other from the first byte of the file to the directory.
void check_tiling(std::string_view bytes, std::vector<Listed>& listed, const Place& place,
                  const std::string& origin) {
  std::vector<std::size_t> order(listed.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return listed[i].local; });
  const std::uint64_t first = listed.empty() ? place.offset : listed[order[0]].local;
  if (first != 0)
    damaged_zip(origin, "its first " + std::to_string(first) + " bytes belong to no entry");
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint64_t end = i + 1 < order.size() ? listed[order[i + 1]].local : place.offset;
    if (end > place.offset) damaged_zip(origin, "an entry lies beyond its directory");
    check_local(bytes, listed[order[i]], end, origin);
  }
}

}  // namespace

void damaged_zip(const std::string& origin, const std::string& reason) {
  file_error(origin + ": damaged archive: " + reason +
             "; write or download the file again and check that it is complete");
}

std::vector<ZipEntry> read_zip_directory(std::string_view bytes, const std::string& origin) {
  const Place place = find_directory(bytes, origin);
  Fields fields(bytes.substr(place.offset, place.size), origin);
  std::vector<Listed> listed;
  while (!fields.empty()) listed.push_back(read_listed(fields, bytes.size(), origin));
  if (listed.size() != place.count)
    damaged_zip(origin, "its directory has " + std::to_string(listed.size()) + " entries, not " +
                            std::to_string(place.count));
  check_tiling(bytes, listed, place, origin);
  std::vector<ZipEntry> entries;
  for (Listed& one : listed) entries.push_back(std::move(one.entry));
  return entries;
}

}  // namespace mase
