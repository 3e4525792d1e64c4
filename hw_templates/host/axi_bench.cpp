// SPDX-License-Identifier: Apache-2.0
// Bench of the AXI wrapper and of the host's driver: the driver of ../host runs against models of
// the registers' bus and of a DMA for every stream. Frames of ../sim/vectors go through one by one
// and all at once, and again after each kind of wrong transfer.
//
//   axi_bench [STALL [SEED [WEIGHTS VECTORS]...]]     STALL: probability per cycle that a stream
//   pauses (0.3)
//
// The driver loads the weights of each WEIGHTS, an image for a reloadable design, and passes the
// frames of the folder VECTORS; without stalls they take as many cycles as the first ones of
// ../sim/vectors.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "Vaxi.h"
#include "host.h"
#include "streams.hpp"
#include "verilated.h"

namespace {

using Bytes = std::vector<std::uint8_t>;
using Codes = std::vector<std::int64_t>;

// Bits of a port of any width.
template <class Port>
bool get(const Port& port, std::size_t bit) {
  if constexpr (std::is_integral_v<Port>)
    return port >> bit & 1;
  else
    return port[bit / 32] >> bit % 32 & 1;
}
template <class Port>
void set(Port& port, std::size_t bit, bool value) {
  if constexpr (std::is_integral_v<Port>) {
    const Port mask = Port{1} << bit;
    port = value ? port | mask : port & ~mask;
  } else {
    const std::uint32_t mask = 1u << bit % 32;
    port[bit / 32] = value ? port[bit / 32] | mask : port[bit / 32] & ~mask;
  }
}

// The DMA of a stream: what PG021 says of one channel, as far as the driver uses it.
struct Dma {
  const mase_stream* stream = nullptr;
  std::size_t first_byte = 0;  // of the stream's in TDATA of all streams
  std::uint32_t control = 0, length = 0;
  Bytes memory;
  std::size_t done = 0;  // bytes
  bool moving = false, failed = false;
  bool offered = false;            // a beat waits on the stream
  std::size_t missing_byte = ~0u;  // of memory: goes without TKEEP
  std::uint32_t status() const {
    return (failed ? 0x10u : 0u) | (moving ? 0u : 2u) | (control & 1 ? 0u : 1u);
  }
};

class System {
 public:
  System(double stall, unsigned seed) : random_(seed), stall_(stall) {
    add(mase_inputs, MASE_INPUTS, senders_);
    add(mase_outputs, MASE_OUTPUTS, receivers_);
    dut_.aresetn = 0;
    for (int i = 0; i < 4; ++i) cycle();
    dut_.aresetn = 1;
  }

  Dma& sender(std::size_t i) { return senders_[i]; }
  Dma& receiver(std::size_t i) { return receivers_[i]; }

  mase_registers control() {
    return {this, [](void* self, std::uint32_t at) { return static_cast<System*>(self)->read(at); },
            [](void* self, std::uint32_t at, std::uint32_t value) {
              static_cast<System*>(self)->write(at, value);
            }};
  }
  // The registers of the DMA of stream i; one that sends has the lower half of PG021's map, one
  // that receives the upper one.
  mase_registers dma(Dma& which) {
    now_ = &which;
    return {this,
            [](void* self, std::uint32_t at) {
              static_cast<System*>(self)->cycle();
              return at % 0x30 == 4 ? static_cast<System*>(self)->now_->status() : 0;
            },
            [](void* self, std::uint32_t at, std::uint32_t value) {
              Dma& dma = *static_cast<System*>(self)->now_;
              if (at % 0x30 == 0) dma.control = value;
              if (at % 0x30 == 0x28) start(dma, value);
            }};
  }
  void idle(int cycles) {
    while (cycles-- > 0) cycle();
  }
  std::uint64_t cycles() const { return cycles_; }

 private:
  static void start(Dma& dma, std::uint32_t bytes) {
    dma.length = bytes;
    dma.done = 0;
    dma.moving = true;
    dma.memory.resize(bytes);
  }

  void add(const mase_stream* streams, std::size_t count, std::vector<Dma>& dmas) {
    std::size_t first = 0;
    for (std::size_t i = 0; i < count; ++i) {
      dmas.emplace_back();
      dmas.back().stream = &streams[i];
      dmas.back().first_byte = first;
      first += streams[i].beat_bytes;
    }
  }

  bool pauses() { return std::uniform_real_distribution<double>(0, 1)(random_) < stall_; }

  void offer(std::size_t i) {
    Dma& dma = senders_[i];
    if (!dma.offered) dma.offered = dma.moving && !pauses();
    set(dut_.in_tvalid, i, dma.offered);
    if (!dma.offered) return;
    for (std::size_t b = 0; b < dma.stream->beat_bytes; ++b) {
      for (std::size_t k = 0; k < 8; ++k)
        set(dut_.in_tdata, 8 * (dma.first_byte + b) + k, dma.memory[dma.done + b] >> k & 1);
      set(dut_.in_tkeep, dma.first_byte + b, dma.done + b != dma.missing_byte);
    }
    set(dut_.in_tlast, i, dma.done + dma.stream->beat_bytes >= dma.length);
  }

  void sent(Dma& dma) {
    dma.offered = false;
    dma.done += dma.stream->beat_bytes;
    dma.moving = dma.done < dma.length;
  }

  void received(std::size_t i) {
    Dma& dma = receivers_[i];
    for (std::size_t b = 0; b < dma.stream->beat_bytes; ++b) {
      std::uint8_t byte = 0;
      for (std::size_t k = 0; k < 8; ++k)
        byte |= static_cast<std::uint8_t>(get(dut_.out_tdata, 8 * (dma.first_byte + b) + k) << k);
      dma.memory[dma.done + b] = byte;
      dma.failed = dma.failed || !get(dut_.out_tkeep, dma.first_byte + b);
    }
    dma.done += dma.stream->beat_bytes;
    const bool last = get(dut_.out_tlast, i);
    if (last || dma.done >= dma.length) {
      dma.moving = false;
      dma.failed = dma.failed || !last || dma.done != dma.length;
    }
  }

  void cycle() {
    ++cycles_;
    for (std::size_t i = 0; i < senders_.size(); ++i) offer(i);
    for (std::size_t i = 0; i < receivers_.size(); ++i)
      set(dut_.out_tready, i, receivers_[i].moving && !pauses());
    dut_.aclk = 0;
    dut_.eval();
    for (std::size_t i = 0; i < senders_.size(); ++i)
      if (get(dut_.in_tvalid, i) && get(dut_.in_tready, i)) sent(senders_[i]);
    for (std::size_t i = 0; i < receivers_.size(); ++i)
      if (get(dut_.out_tvalid, i) && get(dut_.out_tready, i)) received(i);
    dut_.aclk = 1;
    dut_.eval();
  }

  // Address and data come in either order, as on a real bus.
  void write(std::uint32_t at, std::uint32_t value) {
    const bool address_first = pauses();
    dut_.s_axi_awvalid = 1;
    dut_.s_axi_awaddr = at;
    if (address_first) cycle();
    dut_.s_axi_wvalid = 1;
    dut_.s_axi_wdata = value;
    dut_.s_axi_wstrb = 15;
    until([this] { return dut_.s_axi_awready && dut_.s_axi_wready; });
    dut_.s_axi_awvalid = dut_.s_axi_wvalid = 0;
    answer(dut_.s_axi_bready, dut_.s_axi_bvalid);
  }
  std::uint32_t read(std::uint32_t at) {
    dut_.s_axi_arvalid = 1;
    dut_.s_axi_araddr = at;
    until([this] { return dut_.s_axi_arready; });
    dut_.s_axi_arvalid = 0;
    answer(dut_.s_axi_rready, dut_.s_axi_rvalid);
    return dut_.s_axi_rdata;
  }
  // The cycle in which `ready` is seen is the one that moves.
  template <class Ready>
  void until(const Ready& ready) {
    for (int i = 0; i < 100; ++i) {
      const bool moves = ready();
      cycle();
      if (moves) return;
    }
    throw std::runtime_error("the registers do not answer");
  }
  template <class Port>
  void answer(Port& ready, const Port& valid) {
    while (pauses()) cycle();
    ready = 1;
    until([&] { return valid; });
    ready = 0;
  }

  Vaxi dut_;
  std::mt19937 random_;
  double stall_;
  std::vector<Dma> senders_, receivers_;
  Dma* now_ = nullptr;
  std::uint64_t cycles_ = 0;
};

// Frames of a stream in a folder of vectors, as bytes in the order of its TDATA.
std::vector<Bytes> frames_of(const mase_stream& stream, const std::string& folder) {
  Stream beats_of;
  beats_of.name = stream.name;
  beats_of.width = stream.lanes * stream.element_bits;
  std::vector<std::uint32_t> words;
  if (!read_beats(folder, beats_of, words))
    throw std::runtime_error("no vectors of " + beats_of.name + " in " + folder);
  const std::uint64_t sign =
      stream.is_signed ? std::uint64_t{1} << (stream.element_bits - 1) : std::uint64_t{0};
  const std::size_t frame_words = stream.beats * beats_of.words();
  std::vector<Bytes> frames;
  Codes codes(mase_elements(&stream));
  for (std::size_t first = 0; first + frame_words <= words.size(); first += frame_words) {
    for (std::size_t i = 0; i < codes.size(); ++i) {
      const std::uint64_t bits =
          extract(&words[first + i / stream.lanes * beats_of.words()],
                  i % stream.lanes * stream.element_bits, stream.element_bits);
      codes[stream.order ? stream.order[i] : i] = static_cast<std::int64_t>((bits ^ sign) - sign);
    }
    frames.emplace_back(mase_frame_bytes(&stream));
    mase_pack(&stream, codes.data(), frames.back().data());
  }
  return frames;
}

// The words of an image of weights.
std::vector<std::uint32_t> image_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  if (bytes.empty()) throw std::runtime_error("no weights in " + path);
  std::vector<std::uint32_t> words(bytes.size() / 4);
  for (std::size_t i = 0; i < 4 * words.size(); ++i)
    words[i / 4] |= std::uint32_t{static_cast<unsigned char>(bytes[i])} << 8 * (i % 4);
  return words;
}

class Bench {
 public:
  Bench(double stall, unsigned seed) : stalls_(stall > 0), system_(stall, seed) {
    read("../sim/vectors");
  }

  void run() {
    expect(mase_open(system_.control(), MASE_DESIGN_NUMBER + 1), MASE_OTHER_DESIGN,
           "opening another");
    expect(mase_open(system_.control(), MASE_DESIGN_NUMBER), MASE_OK, "opening");
    const std::size_t all = inputs_.front().size();
    for (std::size_t frame = 0; frame < all; ++frame) pass(frame, 1);
    mase_set_transfer(system_.control(), static_cast<std::uint32_t>(all));
    pass(0, all);
    counted(2 * all);
    mase_set_transfer(system_.control(), 1);
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      end_early(i);
      lose_byte(i);
    }
    report("axi");
  }
  // Frames of the weights that the design has, then those of others.
  void reload(const std::vector<std::string>& files) {
    if (files.empty()) return;
    for (std::size_t i = 1; i < files.size(); i += 2) {
      read(files[i]);
      compared_ = std::min(compared_, inputs_.front().size());
    }
    read("../sim/vectors");
    const std::uint64_t before = cycles_of_all();
    refuse(image_of(files[0]));
    for (std::size_t i = 0; i + 1 < files.size(); i += 2) load(files[i], files[i + 1], before);
  }
  bool passed() const { return failed_ == 0 && good_ == frames_ && frames_ > 0; }

 private:
  static constexpr std::uint64_t patience = 1'000'000;  // cycles without a beat

  void read(const std::string& folder) {
    inputs_.clear();
    outputs_.clear();
    for (const mase_stream& stream : mase_inputs) inputs_.push_back(frames_of(stream, folder));
    for (const mase_stream& stream : mase_outputs) outputs_.push_back(frames_of(stream, folder));
  }
  void report(const char* what) const {
    std::printf("%s: %zu frames, %zu as expected, %d checks failed\n", what, frames_, good_,
                failed_);
  }

  // Cycles of the first frames in one transfer; as many as all sets of vectors have.
  std::uint64_t cycles_of_all() {
    mase_set_transfer(system_.control(), static_cast<std::uint32_t>(compared_));
    const std::uint64_t begin = system_.cycles();
    pass(0, compared_);
    const std::uint64_t took = system_.cycles() - begin;
    mase_set_transfer(system_.control(), 1);
    return took;
  }
  void load(const std::string& image, const std::string& folder, std::uint64_t before) {
    const std::vector<std::uint32_t> words = image_of(image);
    expect(mase_reload(system_.control(), words.data(), words.size()), MASE_OK, "loading weights");
    expect(mase_weights(system_.control()), words[3], "the number of the weights");
    read(folder);
    frames_ = good_ = 0;
    for (std::size_t frame = 0; frame < inputs_.front().size(); ++frame) pass(frame, 1);
    const std::uint64_t now = cycles_of_all();
    if (!stalls_)
      expect(static_cast<long long>(now), static_cast<long long>(before), "cycles of the frames");
    report(image.c_str());
    if (good_ != frames_) ++failed_;
  }
  // Images that do not fit, and words for all places while the design is not held.
  void refuse(std::vector<std::uint32_t> image) {
    const mase_registers control = system_.control();
    const std::uint32_t weights = mase_weights(control);
    const auto refused = [&](int result, const char* what) {
      expect(mase_reload(control, image.data(), image.size()), result, what);
    };
    image.back() ^= 1;
    refused(MASE_BAD_IMAGE, "a damaged image");
    image.back() ^= 1;
    image[2] ^= 1;
    refused(MASE_OTHER_DESIGN, "an image of another design");
    for (std::size_t i = 5; i + 1 < image.size(); i += 2 + image[i + 1]) {
      control.write(control.context, MASE_RELOAD_PLACE, image[i]);
      for (std::uint32_t k = 0; k < image[i + 1]; ++k)
        control.write(control.context, MASE_RELOAD_WORD, ~image[i + 2 + k]);
    }
    expect(control.read(control.context, MASE_RELOAD_STATUS) >> 31, 1, "a word that is left out");
    control.write(control.context, MASE_RELOAD_PLACE, 0);
    expect(control.read(control.context, MASE_RELOAD_STATUS), 0, "that is told once");
    expect(mase_weights(control), weights, "weights that stay");
    for (std::size_t frame = 0; frame < compared_; ++frame) pass(frame, 1);
    expect(static_cast<long long>(good_), static_cast<long long>(frames_), "frames as expected");
  }

  void expect(long long found, long long wanted, const char* what) {
    if (found == wanted) return;
    ++failed_;
    std::printf("%s: %lld, not %lld\n", what, found, wanted);
  }
  void counted(std::size_t frames) {
    const mase_registers control = system_.control();
    expect(control.read(control.context, MASE_FRAMES_IN), static_cast<long long>(frames),
           "frames in");
    expect(control.read(control.context, MASE_FRAMES_OUT), static_cast<long long>(frames),
           "frames out");
    const std::uint64_t begin = mase_cycles(control);
    expect(mase_cycles(control) > begin, 1, "cycles go on");
  }

  // `count` frames from `first` on in one transfer; true when the results are those expected.
  void start(std::size_t first, std::size_t count) {
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      Dma& dma = system_.receiver(i);
      mase_receive(system_.dma(dma), 0, static_cast<std::uint32_t>(count * outputs_[i][0].size()));
    }
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      Dma& dma = system_.sender(i);
      mase_send(system_.dma(dma), 0, static_cast<std::uint32_t>(count * inputs_[i][0].size()));
      dma.memory.clear();
      for (std::size_t f = first; f < first + count; ++f)
        dma.memory.insert(dma.memory.end(), inputs_[i][f].begin(), inputs_[i][f].end());
    }
  }
  // Until a transfer has ended; one that stands still or fails ends the bench.
  template <class Wait>
  void await(const Wait& wait, Dma& dma, const char* what) {
    int result = MASE_TIMEOUT;
    for (std::size_t before = ~std::size_t{0}; result == MASE_TIMEOUT && dma.done != before;) {
      before = dma.done;
      result = wait(system_.dma(dma), patience);
    }
    if (result != MASE_OK)
      throw std::runtime_error(what + std::string(" ") + dma.stream->name + ": " +
                               mase_message(result));
  }
  void finish() {
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      await(mase_wait_sent, system_.sender(i), "sending");
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      await(mase_wait_received, system_.receiver(i), "receiving");
  }
  void pass(std::size_t first, std::size_t count) {
    start(first, count);
    finish();
    expect(mase_check(system_.control()), MASE_OK, "status");
    frames_ += count;
    for (std::size_t f = 0; f < count; ++f) good_ += same(first, f);
  }
  bool same(std::size_t first, std::size_t frame) {
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const Bytes& wanted = outputs_[i][first + frame];
      const auto begin =
          system_.receiver(i).memory.begin() + static_cast<long>(frame * wanted.size());
      if (Bytes(begin, begin + static_cast<long>(wanted.size())) !=
          decoded(mase_outputs[i], wanted))
        return false;
    }
    return true;
  }
  // Elements of outputs have their sign in the padding.
  static Bytes decoded(const mase_stream& stream, const Bytes& packed) {
    Bytes frame = packed;
    for (std::size_t i = 0; i < mase_elements(&stream); ++i)
      for (std::size_t k = stream.element_bits; stream.is_signed && k < stream.lane_bits; ++k) {
        const std::size_t base =
            i / stream.lanes * stream.beat_bytes * 8 + i % stream.lanes * stream.lane_bits;
        const std::size_t sign = base + stream.element_bits - 1;
        if (packed[sign / 8] >> sign % 8 & 1)
          frame[(base + k) / 8] |= static_cast<std::uint8_t>(1u << (base + k) % 8);
      }
    return frame;
  }

  // A transfer that ends a beat early is reported, and the next frame is right.
  void end_early(std::size_t input) {
    const mase_stream& stream = mase_inputs[input];
    if (stream.beats < 2) return;
    start(0, 1);
    system_.sender(input).length -= stream.beat_bytes;
    finish();
    expect(mase_check(system_.control()), MASE_STREAM_ERROR, "a transfer that ends early");
    pass(inputs_.front().size() - 1, 1);
  }
  // So is one that lacks a byte.
  void lose_byte(std::size_t input) {
    start(0, 1);
    system_.sender(input).missing_byte = 0;
    finish();
    system_.sender(input).missing_byte = ~std::size_t{0};
    expect(mase_check(system_.control()), MASE_STREAM_ERROR, "a byte without TKEEP");
    pass(0, 1);
  }

  std::size_t compared_ = 4;
  bool stalls_;
  System system_;
  std::vector<std::vector<Bytes>> inputs_, outputs_;
  std::size_t frames_ = 0, good_ = 0;
  int failed_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    Bench bench(argc > 1 ? std::atof(argv[1]) : 0.3, argc > 2 ? std::atoi(argv[2]) : 1);
    bench.run();
    bench.reload(std::vector<std::string>(argv + std::min(argc, 3), argv + argc));
    return bench.passed() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "axi: %s\n", error.what());
    return 1;
  }
}
