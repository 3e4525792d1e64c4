// SPDX-License-Identifier: Apache-2.0
// What a run of the bench found, printed for people or as one line of JSON.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

struct Report {
  static constexpr std::size_t kMessages = 10;

  std::uint64_t frames = 0;  // completely out
  std::uint64_t beats = 0, mismatches = 0, protocol_faults = 0, combinational_paths = 0;
  bool deadlock = false;
  bool stalled = false;  // the bench made pauses
  std::uint64_t cycles = 0;
  double seconds = 0;
  std::vector<std::string> messages;
  std::vector<std::uint64_t> first_in, last_out;  // cycle numbers, per frame
  std::uint64_t first_out = 0;                    // of the first frame
  std::vector<std::uint32_t> fifo_peaks;          // most beats that each FIFO held

  void note(const std::string& message) {
    if (messages.size() < kMessages) messages.push_back(message);
  }
  bool good() const {
    return mismatches == 0 && protocol_faults == 0 && combinational_paths == 0 && !deadlock;
  }
  int status() const { return deadlock ? 3 : good() ? 0 : 1; }
};

struct Latencies {
  std::uint64_t first = 0, last = 0, worst = 0;
  double mean = 0;
  double interval = 0;  // between the last beats of frames
};

// A broken design may give a frame before it took one; its latency counts as 0.
inline std::uint64_t elapsed(std::uint64_t from, std::uint64_t to) {
  return to > from ? to - from : 0;
}

// Cycles between the last beats of frames. Without stalls the last interval when it equals the one
// before, else the mean of the last eight rounded up, without the last frame: nothing follows it,
// so windows that wait for the next frame's pixels leave early. With stalls the mean over the later
// half.
inline double interval_of(const Report& report) {
  const std::vector<std::uint64_t>& ends = report.last_out;
  const std::size_t end = report.frames - (!report.stalled && report.frames > 2 ? 2 : 1);
  std::size_t from = report.stalled ? end / 2 : end > 8 ? end - 8 : 0;
  if (!report.stalled && end > 1 && ends[end] - ends[end - 1] == ends[end - 1] - ends[end - 2])
    from = end - 1;
  const auto count = static_cast<double>(end - from);
  const double mean = static_cast<double>(elapsed(ends[from], ends[end])) / count;
  return report.stalled ? mean : std::ceil(mean);
}

// The latency of every frame, first in to last out.
inline std::vector<std::uint64_t> latency_of_frames(const Report& report) {
  std::vector<std::uint64_t> all;
  for (std::size_t i = 0; i < report.frames; ++i)
    all.push_back(elapsed(report.first_in[i], report.last_out[i]));
  return all;
}

inline Latencies latencies(const Report& report) {
  Latencies out;
  if (report.frames == 0) return out;
  const std::vector<std::uint64_t> all = latency_of_frames(report);
  out.first = elapsed(report.first_in[0], report.first_out);
  out.last = all.front();
  double sum = 0;
  for (const std::uint64_t latency : all) {
    out.worst = std::max(out.worst, latency);
    sum += static_cast<double>(latency);
  }
  out.mean = sum / static_cast<double>(report.frames);
  if (report.frames > 1) out.interval = interval_of(report);
  return out;
}

// Frames by latency: bin i counts those from least + i * width on.
struct Histogram {
  std::uint64_t least = 0, width = 1;
  std::vector<std::uint64_t> frames;
};

inline Histogram histogram_of(const Report& report) {
  constexpr std::uint64_t most_bins = 16;
  Histogram out;
  const std::vector<std::uint64_t> all = latency_of_frames(report);
  if (all.empty()) return out;
  const auto [least, worst] = std::minmax_element(all.begin(), all.end());
  out.least = *least;
  out.width = (*worst - *least) / most_bins + 1;
  out.frames.resize((*worst - *least) / out.width + 1);
  for (const std::uint64_t latency : all) ++out.frames[(latency - out.least) / out.width];
  return out;
}

template <class Number>
std::string json_text(const std::vector<Number>& numbers) {
  std::string text;
  for (const Number number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return '[' + text + ']';
}

inline std::string json_text(const Histogram& histogram) {
  return "{\"least\": " + std::to_string(histogram.least) +
         ", \"width\": " + std::to_string(histogram.width) +
         ", \"frames\": " + json_text(histogram.frames) + "}";
}

inline std::string json_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

inline void print_json(const Report& report) {
  const Latencies times = latencies(report);
  const double seconds = std::max(report.seconds, 1e-9);
  std::string messages;
  for (const std::string& message : report.messages)
    messages += (messages.empty() ? "" : ", ") + json_text(message);
  const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  std::printf(
      "{\"frames\": %llu, \"beats\": %llu, \"mismatches\": %llu, \"protocol_faults\": %llu, "
      "\"combinational_paths\": %llu, \"deadlock\": %s, \"cycles\": %llu, ",
      number(report.frames), number(report.beats), number(report.mismatches),
      number(report.protocol_faults), number(report.combinational_paths),
      report.deadlock ? "true" : "false", number(report.cycles));
  std::printf(
      "\"latency_first\": %llu, \"latency_mean\": %.3f, \"latency_worst\": %llu, "
      "\"latency_last\": %llu, \"latency_histogram\": %s, \"interval\": %.4f, ",
      number(times.first), times.mean, number(times.worst), number(times.last),
      json_text(histogram_of(report)).c_str(), times.interval);
  std::printf(
      "\"fifo_peaks\": %s, \"seconds\": %.6f, \"inferences_per_second\": %.0f, "
      "\"cycles_per_second\": %.0f, "
      "\"messages\": [%s]}\n",
      json_text(report.fifo_peaks).c_str(), report.seconds,
      static_cast<double>(report.frames) / seconds, static_cast<double>(report.cycles) / seconds,
      messages.c_str());
}

inline void print_text(const Report& report) {
  const Latencies times = latencies(report);
  const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  std::printf(
      "%s: %llu frames, %llu beats, %llu mismatches, %llu protocol faults, "
      "%llu combinational paths%s\n",
      report.good() ? "PASS" : "FAIL", number(report.frames), number(report.beats),
      number(report.mismatches), number(report.protocol_faults), number(report.combinational_paths),
      report.deadlock ? ", DEADLOCK" : "");
  std::printf("%llu cycles; latency first %llu, last %llu, mean %.1f, worst %llu; interval %.2f\n",
              number(report.cycles), number(times.first), number(times.last), times.mean,
              number(times.worst), times.interval);
  std::printf("%.3f s, %.0f inferences/s, %.0f cycles/s\n", report.seconds,
              static_cast<double>(report.frames) / std::max(report.seconds, 1e-9),
              static_cast<double>(report.cycles) / std::max(report.seconds, 1e-9));
  for (const std::string& message : report.messages) std::printf("  %s\n", message.c_str());
}
