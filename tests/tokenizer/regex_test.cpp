// SPDX-License-Identifier: Apache-2.0
// Regular expressions: what they match, from the meaning of each construct.
#include "tokenizer/regex.hpp"

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "base/text.hpp"

using namespace mase;
using tokenizer::Regex;
using tokenizer::RegexMemory;
using tokenizer::Section;

namespace {

/// The matches with bars between them.
std::string matches(const std::string& pattern, const std::string& text) {
  const Tree tree(pattern);
  const Regex regex(pattern, Section(tree, "t.json: pattern"));
  RegexMemory memory;
  std::vector<std::string> found;
  regex.find_all(text, memory, [&](std::size_t begin, std::size_t end) {
    found.push_back(text.substr(begin, end - begin));
  });
  return join(found, "|");
}

std::string regex_refusal(const std::string& pattern) {
  try {
    matches(pattern, "");
  } catch (const Error& error) {
    CHECK(error.fault() == Fault::file);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("repetition is greedy, lazy or possessive") {
  CHECK(matches("a+", "baaab") == "aaa");
  CHECK(matches("a{1,2}", "aaa") == "aa|a");
  CHECK(matches("a{2,}", "a aaa") == "aaa");
  CHECK(matches("a+?", "aaa") == "a|a|a");
  CHECK(matches("<.*?>", "<a><b>") == "<a>|<b>");
  CHECK(matches("a*ab", "aaab") == "aaab");
  CHECK(matches("a*+ab", "aaab") == "");
  CHECK(matches("(ab)*c", "ababc") == "ababc");
  CHECK(matches("(?:a|b)*?c", "abc") == "abc");
  CHECK(matches("(?:a*)*b", "aab") == "aab");
  CHECK(matches("a{,2}b", "aaab") == "aab");
  CHECK(matches("a{x", "a{x") == "a{x");
}

TEST_CASE("alternatives are tried in order") {
  CHECK(matches("a|ab", "ab") == "a");
  CHECK(matches("ab|a", "ab") == "ab");
  CHECK(matches("(?:a|ab)c", "abc") == "abc");
  CHECK(matches("(?>a|ab)c", "abc") == "");
}

TEST_CASE("sets have ranges, categories and negation") {
  CHECK(matches("[a-c]+", "abcd") == "abc");
  CHECK(matches("[^a-c\\s]+", "ab de") == "de");
  CHECK(matches("[]a]+", "a]b") == "a]");
  CHECK(matches("[a-]+", "a-b") == "a-");
  CHECK(matches("\\p{L}+", "aé東1") == "aé東");
  CHECK(matches("\\p{Lu}", "aBÉ") == "B|É");
  CHECK(matches("\\p{Han}+", "a東京か") == "東京");
  CHECK(matches("\\w+", "a½ ৴_") == "a½|_");  // Oniguruma takes fractions of Latin-1 for letters
  CHECK(matches("[\\w-]+", "a½b-_") == "a|b-_");  // but not in brackets
  CHECK(matches("[^\\w]", "a½") == "½");
  CHECK(matches("\\P{L}+", "a12b") == "12");
  CHECK(matches("[^\\p{L}\\p{N}]+", "a, 1") == ", ");
  CHECK(matches("[\\d\\x41\\u00e9]+", "1Aéb") == "1Aé");
}

TEST_CASE("sets meet, and have names") {
  CHECK(matches("[a-z&&[^aeiou]]+", "banana") == "b|n|n");
  CHECK(matches("[^a-z&&[^aeiou]]+", "banana!") == "a|a|a!");
  CHECK(matches("[a-m&&g-z&&h-k]+", "ghijkl") == "hijk");
  CHECK(matches("[\\p{L}\\p{M}&&[^\\p{Han}]]+", "aé東b") == "aé|b");
  CHECK(matches("(?i)[a-z&&[^k]]+", "jKlk") == "j|l");
  CHECK(matches("[[:alpha:]]+", "aé1 東") == "aé|東");
  CHECK(matches("[[:^digit:]x]+", "a1x٣") == "a|x");
  CHECK(matches("[[:punct:]]+", "a+b-c€ ") == "+|-|€");
  CHECK(matches("\\p{Punct}+", "a+b-c€ ") == "-");
  CHECK(matches("[[:xdigit:][:blank:]]+", "0fg\t٣") == "0f|\t");
  CHECK(matches("\\p{uppercase letter}\\p{White_Space}", "A bC") == "A ");
  CHECK(matches("\\P{Emoji}+", "a😀b") == "a|b");
  CHECK(matches("\\p{^ASCII}", "aé") == "é");
}

TEST_CASE("looking ahead takes nothing") {
  CHECK(matches("\\s+(?!\\S)|\\s+", "a   b ") == "  | | ");
  CHECK(matches("a(?=b)", "aab") == "a");
}

TEST_CASE("looking behind takes nothing") {
  CHECK(matches("(?<=a)b", "abcb") == "b");
  CHECK(matches("(?<!\\s)\\d+", "12 34é56") == "12|4|56");
  CHECK(matches("(?<=ab|é)c", "abc bc éc") == "c|c");
  CHECK(matches("(?<=x*y)z+", "xxyz z yzz") == "z|zz");
  CHECK(matches("(?<=(?<=a)b)c", "abc bc") == "c");
  CHECK(matches("(?<=^|\\s)\\w+", "ab cd") == "ab|cd");
  CHECK(matches("(?<!a|bc)d", "ad bcd cd") == "d");
  CHECK(matches("(?<=a{2,3}?)b", "ab aab") == "b");
  CHECK(matches("\\d(?=(?:\\d{3})+(?!\\d))|(?<=\\d)\\d{3}", "1234567") == "1|234|567");
}

TEST_CASE("anchors stand between characters") {
  CHECK(matches("^a", "a\na") == "a|a");
  CHECK(matches("\\Aa", "a\na") == "a");
  CHECK(matches("a$", "a\na") == "a|a");
  CHECK(matches("a\\z", "a\na") == "a");
  CHECK(matches("\\ba", "a ba a") == "a|a");
  CHECK(matches("\\Ga", "aaba") == "a|a");  // \G: where the last match ended
}

TEST_CASE("case is ignored where a pattern says so") {
  CHECK(matches("(?i:'s)s", "'Ss 'SS 'ſs") == "'Ss|'ſs");
  CHECK(matches("(?i)[a-c]+", "aBcD") == "aBc");
  // Of Oniguruma (Ruby's syntax), by pre_tokenizers.Split of the package tokenizers.
  CHECK(matches("x(?i)y|z", "axZbZzxyxY") == "xZ|xy|xY");
  CHECK(matches("(x(?i)y|z)w", "xZwzwZw") == "xZw");
  CHECK(matches("(?m).{3}", "a\nbcd") == "a\nb");
  CHECK(matches("(?m:.{3})x.", "a\nbx\na\nbxc") == "a\nbxc");
  CHECK(matches("(?mi)A.", "a\nb") == "a\n");
  CHECK(matches("(?i-m:A.)", "a\nab") == "ab");
}

TEST_CASE("patterns that are wrong or not known are refused") {
  CHECK(regex_refusal("(a") == "t.json: pattern: the pattern \"(a\" has '(' without ')' at byte 2");
  CHECK(regex_refusal("a)").find("')' without '('") != std::string::npos);
  CHECK(regex_refusal("*").find("nothing to repeat") != std::string::npos);
  CHECK(regex_refusal("[a").find("an end that is too early") != std::string::npos);
  CHECK(regex_refusal("[[:foo:]]").find("[:foo:], which is not known") != std::string::npos);
  CHECK(regex_refusal("(?~ab)").find("a group that is not known here") != std::string::npos);
  CHECK(regex_refusal("\\p{Klingon}").find("known are general categories") != std::string::npos);
  CHECK(regex_refusal("(((a{999}){999}){999})").find("is too large") != std::string::npos);
}

TEST_CASE("a search that would take for ever ends with an error") {
  CHECK_THROWS_WITH(matches("(?:a|a)*b", std::string(200, 'a')),
                    Catch::Contains("takes too many steps"));
  CHECK_THROWS_WITH(matches("(?<=x.*)b", std::string(100'000, 'b')),
                    Catch::Contains("takes too many steps"));
}
