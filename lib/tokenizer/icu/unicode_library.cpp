// SPDX-License-Identifier: Apache-2.0
// What tokenizers ask of ICU. Code points that are younger than a table of Hugging Face's library
// count as unassigned there, so their age is asked, too.
#include <unicode/brkiter.h>
#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/uniset.h>
#include <unicode/utext.h>

#include <array>
#include <memory>

#include "base/error.hpp"
#include "tokenizer/unicode.hpp"

namespace mase::tokenizer {
namespace {

void check(UErrorCode status) {
  if (U_FAILURE(status)) file_error(std::string("ICU reports ") + u_errorName(status));
}

/// A category that a code point had until a version of Unicode.
struct OldCategory {
  UChar32 code;
  UCharCategory category;
  int until;
};
constexpr std::array<OldCategory, 8> old_categories{{{0x166D, U_OTHER_PUNCTUATION, 12},
                                                     {0x1734, U_NON_SPACING_MARK, 13},
                                                     {0x1885, U_OTHER_LETTER, 8},
                                                     {0x1886, U_OTHER_LETTER, 8},
                                                     {0x1CF2, U_COMBINING_SPACING_MARK, 11},
                                                     {0x1CF3, U_COMBINING_SPACING_MARK, 11},
                                                     {0xA9BD, U_COMBINING_SPACING_MARK, 10},
                                                     {0x111C9, U_OTHER_PUNCTUATION, 10}}};

/// The category of a code point in a major version of Unicode.
int category_in(UChar32 code, int version) {
  UVersionInfo age;
  u_charAge(code, age);
  if (age[0] == 0 || age[0] > version) return U_UNASSIGNED;
  for (const OldCategory& old : old_categories)
    if (old.code == code && version <= old.until) return old.category;
  return u_charType(code);
}

const icu::Normalizer2& instance(Form form) {
  UErrorCode status = U_ZERO_ERROR;
  using icu::Normalizer2;
  const std::array instances{
      Normalizer2::getNFCInstance(status), Normalizer2::getNFDInstance(status),
      Normalizer2::getNFKCInstance(status), Normalizer2::getNFKDInstance(status)};
  check(status);
  return *instances[static_cast<std::size_t>(form)];
}

/// The form as Unicode 9.0 has it: later code points stay as they are.
const icu::Normalizer2& old_instance(Form form) {
  static const icu::UnicodeSet assigned = [] {
    UErrorCode status = U_ZERO_ERROR;
    icu::UnicodeSet set(u"[:age=9.0:]", status);
    check(status);
    set.freeze();
    return set;
  }();
  static const std::array<icu::FilteredNormalizer2, 4> instances{
      icu::FilteredNormalizer2(instance(Form::nfc), assigned),
      icu::FilteredNormalizer2(instance(Form::nfd), assigned),
      icu::FilteredNormalizer2(instance(Form::nfkc), assigned),
      icu::FilteredNormalizer2(instance(Form::nfkd), assigned)};
  return instances[static_cast<std::size_t>(form)];
}

bool is_mark(int category) {
  return category >= U_NON_SPACING_MARK && category <= U_COMBINING_SPACING_MARK;
}

bool is_bert_punctuation(UChar32 code) {
  if (code < 0x80) return code > ' ' && code < 0x7F && !u_isalnum(code);
  return (U_MASK(category_in(code, 8)) & U_GC_P_MASK) != 0;
}

bool is_bert_control(UChar32 code) {
  if (code == '\t' || code == '\n' || code == '\r') return false;
  return (U_MASK(category_in(code, 8)) & (U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CO_MASK)) != 0;
}

bool is_word(UChar32 code, int category) {
  return is_mark(category) || category == U_DECIMAL_DIGIT_NUMBER ||
         category == U_CONNECTOR_PUNCTUATION || u_isUAlphabetic(code);
}

/// The superscripts and fractions of Latin-1, which Oniguruma takes for letters outside of
/// brackets.
bool is_number_of_latin1(UChar32 code, int category) {
  return code < 0x100 && category == U_OTHER_NUMBER;
}

std::uint32_t properties(UChar32 code) {
  const int category = u_charType(code);
  std::uint32_t bits = static_cast<std::uint32_t>(category);
  const auto set = [&](std::uint32_t property, bool value) { bits |= value ? property : 0; };
  set(white_space, u_isUWhiteSpace(code));
  set(word, is_word(code, category) || u_hasBinaryProperty(code, UCHAR_JOIN_CONTROL));
  set(pattern_word, is_word(code, category) || is_number_of_latin1(code, category));
  set(set_word, is_word(code, category));
  set(bert_punctuation, is_bert_punctuation(code));
  set(bert_control, is_bert_control(code));
  set(bert_nonspacing, category_in(code, 8) == U_NON_SPACING_MARK);
  set(old_mark, is_mark(category_in(code, 9)));
  set(has_lower, u_tolower(code) != code);
  for (const Form form : {Form::nfc, Form::nfd, Form::nfkc, Form::nfkd})
    set(changes << static_cast<int>(form), !instance(form).isInert(code));
  return bits;
}

void fill_page(std::uint32_t page, std::uint32_t* of_256) {
  for (std::uint32_t i = 0; i < 256; ++i)
    of_256[i] = properties(static_cast<UChar32>(page << 8 | i));
}

char32_t lower(char32_t code) {
  return static_cast<char32_t>(u_tolower(static_cast<UChar32>(code)));
}

icu::StringPiece piece(std::string_view text) {
  return {text.data(), static_cast<std::int32_t>(text.size())};
}

void normalize_text(Form form, std::string_view text, std::string& result) {
  UErrorCode status = U_ZERO_ERROR;
  icu::StringByteSink<std::string> sink(&result);
  old_instance(form).normalizeUTF8(0, piece(text), sink, nullptr, status);
  check(status);
}

void case_variants(char32_t code, std::vector<char32_t>& variants) {
  icu::UnicodeSet set(static_cast<UChar32>(code), static_cast<UChar32>(code));
  set.closeOver(USET_CASE_INSENSITIVE);
  set.removeAllStrings();
  for (std::int32_t i = 0; i < set.size(); ++i)
    variants.push_back(static_cast<char32_t>(set.charAt(i)));
}

int script_named(const std::string& name) {
  return u_getPropertyValueEnum(UCHAR_SCRIPT, name.c_str());
}

int script_of(char32_t code) {
  return u_getIntPropertyValue(static_cast<UChar32>(code), UCHAR_SCRIPT);
}

std::uint32_t categories_of_name(const std::string& name) {
  const std::int32_t mask = u_getPropertyValueEnum(UCHAR_GENERAL_CATEGORY_MASK, name.c_str());
  return mask == UCHAR_INVALID_CODE ? 0 : static_cast<std::uint32_t>(mask);
}

int property_named(const std::string& name) {
  const int property = u_getPropertyEnum(name.c_str());
  return property >= UCHAR_BINARY_START && property < UCHAR_BINARY_LIMIT ? property : -1;
}

bool has_property(char32_t code, int property) {
  return u_hasBinaryProperty(static_cast<UChar32>(code), static_cast<UProperty>(property)) != 0;
}

void graphemes(std::string_view text, std::vector<std::size_t>& ends) {
  UErrorCode status = U_ZERO_ERROR;
  static thread_local const std::unique_ptr<icu::BreakIterator> iterator(
      icu::BreakIterator::createCharacterInstance(icu::Locale::getRoot(), status));
  check(status);
  UText* opened =
      utext_openUTF8(nullptr, text.data(), static_cast<std::int64_t>(text.size()), &status);
  check(status);
  iterator->setText(opened, status);
  utext_close(opened);
  check(status);
  iterator->first();
  for (auto end = iterator->next(); end != icu::BreakIterator::DONE; end = iterator->next())
    ends.push_back(static_cast<std::size_t>(end));
}

}  // namespace

extern "C" void mase_open_icu(UnicodeLibrary& library) {
  library = {fill_page,    lower,     normalize_text,     case_variants,
             script_named, script_of, categories_of_name, property_named,
             has_property, graphemes};
}

}  // namespace mase::tokenizer
