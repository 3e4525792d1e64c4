// SPDX-License-Identifier: Apache-2.0
// Every operator that a model may run, with hostile arguments: an error or a result, never a
// signal, and never for long. Each operator runs in a process of its own. The test makes few calls
// of each; `scripts/fuzz SECONDS operators` makes many, with other seeds.
#include "torch/catch.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <torch/csrc/jit/runtime/operator.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "ir/allowed_operators.hpp"
#include "torch/import/registry_guard.hpp"
#include "torch/run/hostile_arguments.hpp"

using namespace mase;
using namespace mase::test;

namespace {

using FuzzedOperator = std::shared_ptr<torch::jit::Operator>;

constexpr unsigned longest_seconds = 60;  // on a busy machine, too; a hang has no end
constexpr rlim_t most_memory = rlim_t{6} << 30U;

/// Memory that a child and its parent share: what the child is about to call.
class CallReport {
 public:
  CallReport()
      : text_(static_cast<char*>(
            mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~CallReport() { munmap(text_, size); }
  CallReport(const CallReport&) = delete;
  CallReport& operator=(const CallReport&) = delete;
  void write(const std::string& text) {
    const std::size_t count = std::min(text.size(), size - 1);
    std::memcpy(text_, text.data(), count);
    text_[count] = '\0';
  }
  std::string read() const { return text_; }

 private:
  static constexpr std::size_t size = 4096;
  char* text_;
};

std::string schema_name(const c10::FunctionSchema& schema) {
  return schema.name() + (schema.overload_name().empty() ? "" : "." + schema.overload_name());
}

/// The operators that are allowed. What writes into its last arguments is never run.
std::vector<FuzzedOperator> fuzzed_operators() {
  const libtorch::RegistryGuard guard;  // which changes the registry
  std::vector<FuzzedOperator> found;
  for (const FuzzedOperator& op : torch::jit::getAllOperators()) {
    const c10::FunctionSchema& schema = op->schema();
    const bool runs = schema.name().starts_with("aten::") && ir::is_allowed(schema.name()) &&
                      op->hasOperation() && !schema.is_vararg();
    if (runs && !schema.overload_name().ends_with("out")) found.push_back(op);
  }
  return found;
}

void call_hostile(const torch::jit::Operator& op, std::uint64_t seed, CallReport& report) {
  Random random(seed);
  torch::jit::Stack stack = hostile_arguments(op.schema(), random);
  report.write(schema_name(op.schema()) + "(" + text_of(stack) + "), seed " + std::to_string(seed));
  const libtorch::RegistryGuard guard;
  try {
    op.getOperation()(stack);
    for (const c10::IValue& result : stack)
      if (result.isTensor() && result.toTensor().defined()) result.toTensor().clone();
  } catch (const std::exception&) {  // which is what hostile arguments deserve
  }
}

[[noreturn]] void calls_in_child(const torch::jit::Operator& op, std::uint64_t seed, int calls,
                                 CallReport& report) {
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL, SIGINT, SIGTERM})
    std::signal(signal, SIG_DFL);
  const rlimit memory{most_memory, most_memory}, no_core{0, 0};
  setrlimit(RLIMIT_AS, &memory);
  setrlimit(RLIMIT_CORE, &no_core);
  if (!std::freopen("/dev/null", "w", stderr)) _exit(1);
  for (int i = 0; i < calls; ++i) {
    alarm(longest_seconds);
    try {
      call_hostile(op, seed + static_cast<std::uint64_t>(i), report);
    } catch (const std::exception&) {  // arguments that could not be made
    }
  }
  _exit(0);
}

/// What the operator died of; empty when it did not.
std::string death_of(const torch::jit::Operator& op, std::uint64_t seed, int calls) {
  CallReport report;
  std::fflush(nullptr);  // what the child would write again
  const pid_t child = fork();
  if (child == 0) calls_in_child(op, seed, calls, report);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  return report.read() + ": " +
         (WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "unexpected exit");
}

double environment_number(const char* variable, double fallback) {
  const char* text = std::getenv(variable);
  return text ? parse_double(text).value_or(fallback) : fallback;
}

}  // namespace

TEST_CASE("allowed operators bear hostile arguments", "[operators]") {
  using Clock = std::chrono::steady_clock;
  const auto end =
      Clock::now() + std::chrono::duration<double>(environment_number("MASE_OPERATOR_SECONDS", 0));
  const int calls = static_cast<int>(environment_number("MASE_OPERATOR_CALLS", 2));
  auto seed = static_cast<std::uint64_t>(environment_number("MASE_OPERATOR_SEED", 1));
  std::size_t made = 0;
  do {
    for (const FuzzedOperator& op : fuzzed_operators()) {
      const std::string death = death_of(*op, seed, calls);
      made += static_cast<std::size_t>(calls);
      CHECK(death == "");
    }
    seed += static_cast<std::uint64_t>(calls);
  } while (Clock::now() < end);
  if (std::getenv("MASE_OPERATOR_SECONDS"))  // as libFuzzer counts for scripts/fuzz
    std::cout << "stat::number_of_executed_units: " << made << "\n";
}
