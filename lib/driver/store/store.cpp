// SPDX-License-Identifier: Apache-2.0
// The table of stores, and what the messages of their programs mean.
#include "driver/store/store.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/process.hpp"
#include "base/text.hpp"

namespace mase::driver {
namespace {

using Words = StoreKind::Words;
using Clock = std::chrono::steady_clock;

Words aws_copy(const std::string& from, const std::string& to) {
  return {"aws", "s3", "cp", "--only-show-errors", from, to};
}
Words aws_print(const std::string& from) { return aws_copy(from, "-"); }
Words aws_copy_some(const std::string& from, const Words& names, const std::string& to) {
  Words words = aws_copy(from, to);
  for (const char* word : {"--recursive", "--exclude", "*"}) words.emplace_back(word);
  for (const std::string& name : names) {
    words.emplace_back("--include");
    words.push_back(name);
  }
  return words;
}

/// What is behind a message: whether time may mend it, and what the user can do.
struct Meaning {
  std::string_view text;  ///< part of the message
  bool may_pass;
  std::string_view remedy;
};
constexpr std::string_view give_keys =
    "give keys that hold: `aws configure`, AWS_PROFILE, or AWS_ACCESS_KEY_ID and "
    "AWS_SECRET_ACCESS_KEY";
constexpr std::string_view unreachable =
    "is its server up, and is AWS_ENDPOINT_URL (or endpoint_url of the profile) its address?";
constexpr std::string_view forbidden =
    "the keys need the rights s3:GetObject, s3:PutObject and s3:ListBucket there";
constexpr std::array meanings{
    Meaning{"Unable to locate credentials", false, give_keys},
    Meaning{"config profile", false, give_keys},
    Meaning{"InvalidAccessKeyId", false, give_keys},
    Meaning{"SignatureDoesNotMatch", false, give_keys},
    Meaning{"ExpiredToken", false, give_keys},
    Meaning{"InvalidToken", false, give_keys},
    Meaning{"AccessDenied", false, forbidden},
    Meaning{"(403)", false, forbidden},
    Meaning{"NoSuchBucket", false, "make the bucket: `aws s3 mb s3://BUCKET`"},
    Meaning{"Could not connect", true, unreachable},
    Meaning{"Connection was closed", true, unreachable},
    Meaning{"Connection reset", true, unreachable},
    Meaning{"imeout", true, unreachable},
    Meaning{"timed out", true, unreachable},
    Meaning{"SlowDown", true, "the store is busy"},
    Meaning{"InternalError", true, "the store has a problem of its own"},
    Meaning{"ServiceUnavailable", true, "the store has a problem of its own"},
    Meaning{"(500)", true, "the store has a problem of its own"},
    Meaning{"(503)", true, "the store has a problem of its own"},
};
constexpr std::string_view not_found = "(404)";

const Meaning* meaning_of(const std::string& message) {
  const auto* found = std::ranges::find_if(
      meanings, [&](const Meaning& meaning) { return message.find(meaning.text) != message.npos; });
  return found == meanings.end() ? nullptr : found;
}

/// "http://USER:PASSWORD@HOST" without what stands before the "@".
std::string without_passwords(std::string text) {
  for (std::size_t at = text.find("://"); at != text.npos; at = text.find("://", at)) {
    at += 3;
    const std::size_t end = std::min(text.find_first_of("/ \"'\n", at), text.size());
    const std::size_t sign = text.substr(0, end).rfind('@');
    if (sign != text.npos && sign >= at) text.replace(at, sign - at, "***");
  }
  return text;
}

/// What a program printed last, without "upload failed: FILE to ADDRESS", which the user is told
/// in other words.
std::string reason_in(const ProcessResult& result, const Words& command) {
  const std::string line(trim(without_passwords(last_lines(result, 1))));
  const std::string target = " to " + command.back() + " ";
  const std::size_t found = line.find(target);
  return found == line.npos ? line : line.substr(found + target.size());
}

/// The address without slashes at its end. Error(Fault::config) if it has no bucket, or a key.
std::string checked(const std::string& given, const StoreKind& kind) {
  std::string address = given;
  while (address.ends_with('/') && address.size() > kind.scheme.size()) address.pop_back();
  const std::size_t begin = kind.scheme.size();
  const std::string bucket = address.substr(begin, address.find('/', begin) - begin);
  if (bucket.find('@') != bucket.npos)
    config_error("the address of a store has no keys: " + std::string(kind.form) + "; " +
                 std::string(give_keys));
  const bool is_name = std::ranges::all_of(
      bucket, [](char c) { return is_identifier_char(c) || c == '.' || c == '-' || c == ':'; });
  const std::vector<std::string> parts = split(address.substr(begin), '/');
  const bool has_steps = std::ranges::any_of(
      parts, [](const std::string& part) { return part.empty() || part == "." || part == ".."; });
  if (!is_name || has_steps)
    config_error("'" + given + "' does not name a store: " + std::string(kind.form));
  return address;
}

const StoreKind* kind_of(const std::string& text) {
  const auto& table = store_table();
  const auto found = std::ranges::find_if(
      table, [&](const StoreKind& kind) { return text.starts_with(kind.scheme); });
  return found == table.end() ? nullptr : &*found;
}

}  // namespace

const std::vector<StoreKind>& store_table() {
  static const std::vector<StoreKind> table{
      {"s3://", "s3://BUCKET/PREFIX", "aws", aws_copy, aws_print, aws_copy_some},
  };
  return table;
}

std::string store_forms() {
  std::vector<std::string> forms;
  for (const StoreKind& kind : store_table()) forms.emplace_back(kind.form);
  return join(forms, " or ");
}

bool names_store(const std::string& text) { return kind_of(text) != nullptr; }

Store::Store(const std::string& address, double patience)
    : kind_(kind_of(address)), patience_(patience) {
  if (!kind_) config_error("'" + address + "' does not name a store: " + store_forms());
  address_ = checked(address, *kind_);
  require_program(std::string(kind_->program));
}

std::optional<std::string> Store::run(const Words& command, const std::string& what) const {
  constexpr std::chrono::seconds longest_pause{8};
  const auto end = Clock::now() + std::chrono::duration<double>(patience_);
  for (std::chrono::seconds pause{1};; pause = std::min(2 * pause, longest_pause)) {
    const ProcessResult result = run_process(command);
    if (result.status == 0 && !result.timed_out) return result.out;
    const std::string message = result.timed_out ? "timed out" : reason_in(result, command);
    const Meaning* meaning = meaning_of(message);
    if (!meaning && message.find(not_found) != message.npos) return std::nullopt;
    if (!meaning || !meaning->may_pass || Clock::now() + pause > end)
      file_error(what + ": " + message + (meaning ? "; " + std::string(meaning->remedy) : ""));
    log::info(what + " is tried again: " + message);
    for (const auto next = Clock::now() + pause; Clock::now() < next; stop_if_asked())
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

std::optional<std::string> Store::read(const std::string& name) const {
  return run(kind_->print(address_of(name)), "reading " + address_of(name));
}

void Store::get(const std::string& name, const std::string& file) const {
  if (!run(kind_->copy(address_of(name), file), "reading " + address_of(name)))
    file_error(address_of(name) + ": the store has no such file");
}

void Store::put(const std::string& file, const std::string& name) const {
  const std::string what = "writing " + address_of(name);
  if (!run(kind_->copy(file, address_of(name)), what))
    file_error(what + ": there is no such place");
}

void Store::put_files(const std::string& folder, const Words& files,
                      const std::string& name) const {
  const std::string to = name.empty() ? address_ : address_of(name), what = "writing " + to;
  if (!run(kind_->copy_some(folder, files, to), what))
    file_error(what + ": there is no such place");
}

void Store::get_named(const std::string& below, const std::string& name,
                      const std::string& folder) const {
  const std::string address = address_of(below);
  run(kind_->copy_some(address, {"*/" + name}, folder), "reading " + address);
}

}  // namespace mase::driver
