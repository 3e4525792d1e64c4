// SPDX-License-Identifier: Apache-2.0
// The keywords of SystemVerilog and the choice of free names.
#include "hardware/design/names.hpp"

#include <algorithm>
#include <cctype>

#include "base/file.hpp"
#include "base/text.hpp"

namespace mase::design {
namespace {

/// IEEE 1800-2017, annex B, in one string between blanks.
constexpr std::string_view keywords =
    " accept_on alias always always_comb always_ff always_latch and assert assign assume automatic "
    "before begin bind bins binsof bit break buf bufif0 bufif1 byte case casex casez cell chandle "
    "checker class clocking cmos config const constraint context continue cover covergroup "
    "coverpoint cross deassign default defparam design disable dist do edge else end endcase "
    "endchecker endclass endclocking endconfig endfunction endgenerate endgroup endinterface "
    "endmodule endpackage endprimitive endprogram endproperty endspecify endsequence endtable "
    "endtask enum event eventually expect export extends extern final first_match for force "
    "foreach forever fork forkjoin function generate genvar global highz0 highz1 if iff ifnone "
    "ignore_bins illegal_bins implements implies import incdir include initial inout input inside "
    "instance int integer interconnect interface intersect join join_any join_none large let "
    "liblist library local localparam logic longint macromodule matches medium modport module nand "
    "negedge nettype new nexttime nmos nor noshowcancelled not notif0 notif1 null or output "
    "package "
    "packed parameter pmos posedge primitive priority program property protected pull0 pull1 "
    "pulldown pullup pulsestyle_ondetect pulsestyle_onevent pure rand randc randcase randsequence "
    "rcmos real realtime ref reg reject_on release repeat restrict return rnmos rpmos rtran "
    "rtranif0 rtranif1 s_always s_eventually s_nexttime s_until s_until_with scalared sequence "
    "shortint shortreal showcancelled signed small soft solve specify specparam static string "
    "strong strong0 strong1 struct super supply0 supply1 sync_accept_on sync_reject_on table "
    "tagged "
    "task this throughout time timeprecision timeunit tran tranif0 tranif1 tri tri0 tri1 triand "
    "trior trireg type typedef union unique unique0 unsigned until until_with untyped use uwire "
    "var "
    "vectored virtual void wait wait_order wand weak weak0 weak1 while wildcard wire with within "
    "wor xnor xor ";

constexpr std::size_t hash_digits = 12;

std::string shortened(std::string_view legal, std::string_view name) {
  if (legal.size() <= longest_identifier) return std::string(legal);
  return std::string(legal.substr(0, longest_identifier - hash_digits - 1)) + "_" +
         sha256(name).substr(0, hash_digits);
}

std::string numbered(const std::string& base, int number) {
  return number == 0 ? base : base + "_" + std::to_string(number);
}

}  // namespace

bool is_reserved(std::string_view word) {
  return keywords.find(" " + std::string(word) + " ") != std::string_view::npos;
}

std::string legal_identifier(std::string_view name) {
  std::string result(name);
  for (char& c : result)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  if (result.empty() || std::isdigit(static_cast<unsigned char>(result[0]))) result = "_" + result;
  return is_reserved(result) ? result + "_" : shortened(result, name);
}

bool Names::is_free(const std::string& name) const { return !taken_.contains(lower_case(name)); }

void Names::take(const std::string& name) { taken_.insert(lower_case(name)); }

std::string Names::instance(std::string_view wanted) {
  const std::string base = legal_identifier(wanted);
  for (int number = 0;; ++number) {
    std::string name = numbered(base, number);
    if (words_.contains(name) || !is_free(name)) continue;
    take(name);
    return name;
  }
}

std::string Names::stream(std::string_view wanted) {
  const std::string base = legal_identifier(wanted);
  for (int number = 0;; ++number) {
    std::string name = numbered(base, number);
    const auto free = [&](const char* suffix) { return is_free(name + suffix); };
    if (streams_.contains(lower_case(name)) || !free("_valid") || !free("_ready") || !free("_data"))
      continue;
    streams_.insert(lower_case(name));
    for (const char* suffix : {"_valid", "_ready", "_data"}) take(name + suffix);
    return name;
  }
}

}  // namespace mase::design
