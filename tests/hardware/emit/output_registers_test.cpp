// SPDX-License-Identifier: Apache-2.0
// Netlists before and after are simulated: the registers that moved into memories must not show.
#include "hardware/emit/tools/output_registers.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <random>

#include "base/tree.hpp"

using namespace mase;

namespace {

/// Cells of one module, put together as Yosys writes them.
class NetlistCells {
 public:
  void memory(const std::string& name, std::vector<int> address, std::vector<int> data,
              const char* clock_enable_bit = nullptr) {
    Tree nets = Tree::dict();
    for (std::size_t i = 0; i < address.size(); ++i)
      put(nets, "ADA" + std::to_string(i), address[i]);
    for (std::size_t i = 0; i < data.size(); ++i) put(nets, "DOA" + std::to_string(i), data[i]);
    put(nets, "CLKA", clock);
    put(nets, "CEA", clock_enable_bit ? std::stoi(clock_enable_bit) : enable);
    for (const char* port : {"OCEA", "OCEB"}) nets[port] = constant("1");
    for (const char* port : {"RSTA", "RSTB", "CEB", "CLKB"}) nets[port] = constant("0");
    Tree parameters = Tree::dict();
    parameters["DATA_WIDTH_B"] = "00010010";
    for (const std::string side : {"A", "B"}) {
      parameters["REGMODE_" + side] = "NOREG";
      parameters["CLK" + side + "MUX"] = "CLK" + side;
    }
    add(name, "DP16KD", std::move(parameters), std::move(nets));
  }

  void flip_flop(const std::string& name, int from, int to, const char* reset = "0") {
    Tree nets = Tree::dict();
    put(nets, "DI", from);
    put(nets, "Q", to);
    put(nets, "CLK", clock);
    put(nets, "CE", enable);
    nets["LSR"] = constant(reset);
    Tree parameters = Tree::dict();
    parameters["CLKMUX"] = "CLK";
    parameters["CEMUX"] = "CE";
    add(name, "TRELLIS_FF", std::move(parameters), std::move(nets));
  }

  /// Z = D ? C : B.
  void multiplexer(const std::string& name, int b, int c, int select, int out) {
    Tree nets = Tree::dict();
    nets["A"] = constant("0");
    put(nets, "B", b);
    put(nets, "C", c);
    put(nets, "D", select);
    put(nets, "Z", out);
    add(name, "LUT4", Tree::dict(), std::move(nets));
  }

  std::string text() const {
    Tree port = Tree::dict();
    port["bits"] = Tree::list_of(outputs);
    Tree module = Tree::dict();
    module["ports"]["out"] = std::move(port);
    module["cells"] = cells;
    Tree tree = Tree::dict();
    tree["modules"]["top"] = std::move(module);
    return to_json(tree, -1);
  }

  static constexpr int clock = 2, enable = 3;
  std::vector<int> outputs;
  Tree cells = Tree::dict();

 private:
  static Tree constant(const char* value) { return Tree::list_of(std::vector<std::string>{value}); }
  static void put(Tree& nets, const std::string& port, int bit) {
    nets[port] = Tree::list_of(std::vector<int>{bit});
  }

  void add(const std::string& name, const char* type, Tree parameters, Tree nets) {
    Tree cell = Tree::dict(), directions = Tree::dict();
    for (const auto& entry : nets.as_dict())
      directions[entry.first] =
          entry.first == "Q" || entry.first == "Z" || entry.first.starts_with("DO") ? "output"
                                                                                    : "input";
    cell["type"] = type;
    cell["parameters"] = std::move(parameters);
    cell["port_directions"] = std::move(directions);
    cell["connections"] = std::move(nets);
    cells[name] = std::move(cell);
  }
};

/// Values of nets, cycle by cycle. Bit i of a memory's word is a fixed function of the address.
class NetlistRun {
 public:
  explicit NetlistRun(const std::string& netlist)
      : tree_(parse_json(netlist, "test")),
        cells_(tree_.at("modules").at("top").at("cells").as_dict()) {}

  std::map<int, bool> nets;

  void cycle() {
    settle();
    std::map<int, bool> next;
    for (const auto& [name, cell] : cells_) {
      const auto net = [&](const std::string& port) { return value(cell, port); };
      if (cell.at("type").as_string() == "TRELLIS_FF" && net("CE"))
        next[bit(cell, "Q")] = !net("LSR") && net("DI");
      if (cell.at("type").as_string() == "DP16KD") clock_memory(name, cell, next);
    }
    for (const auto& [id, state] : next) nets[id] = state;
    settle();
  }

 private:
  static int bit(const Tree& cell, const std::string& port) {
    const Tree& net = cell.at("connections").at(port).as_list().front();
    return net.is_int() ? static_cast<int>(net.as_int()) : net.as_string() == "1" ? -1 : -2;
  }
  bool value(const Tree& cell, const std::string& port) {
    const int id = bit(cell, port);
    return id < 0 ? id == -1 : nets[id];
  }

  void clock_memory(const std::string& name, const Tree& cell, std::map<int, bool>& next) {
    unsigned address = 0;
    std::vector<std::string> outputs;
    for (const auto& entry : cell.at("connections").as_dict()) {
      if (entry.first.starts_with("ADA") && value(cell, entry.first))
        address |= 1u << std::stoi(entry.first.substr(3));
      if (entry.first.starts_with("DOA")) outputs.push_back(entry.first);
    }
    const bool registered = cell.at("parameters").at("REGMODE_A").as_string() == "OUTREG";
    for (const std::string& port : outputs) {
      bool& latch = latches_[name + port];
      if (registered && value(cell, "OCEA")) next[bit(cell, port)] = latch;
      if (value(cell, "CEA"))
        latch = std::hash<std::string>{}(name + port + std::to_string(address)) & 1;
      if (!registered) next[bit(cell, port)] = latch;
    }
  }

  void settle() {
    for (int depth = 0; depth < 3; ++depth)
      for (const auto& entry : cells_)
        if (entry.second.at("type").as_string() == "LUT4")
          nets[bit(entry.second, "Z")] = value(entry.second, value(entry.second, "D") ? "C" : "B");
  }

  Tree tree_;
  const Tree::Dict& cells_;
  std::map<std::string, bool> latches_;
};

/// After a few enabled cycles the outputs are those of the netlist as it was, whatever the enable.
void check_equal(const NetlistCells& cells, const std::string& changed, std::vector<int> inputs) {
  NetlistRun before(cells.text()), after(changed);
  std::mt19937 draw(7);
  for (int cycle = 0; cycle < 200; ++cycle) {
    for (const int input : inputs) before.nets[input] = after.nets[input] = draw() & 1;
    const bool enabled = cycle < 4 || draw() % 3 != 0;
    before.nets[NetlistCells::enable] = after.nets[NetlistCells::enable] = enabled;
    before.cycle();
    after.cycle();
    if (cycle < 4) continue;
    for (const int output : cells.outputs) REQUIRE(before.nets[output] == after.nets[output]);
  }
}

Tree cells_of(const std::string& netlist) {
  return parse_json(netlist, "test").at("modules").at("top").at("cells");
}

std::string mode(const Tree& cells, const char* name) {
  return cells.at(name).at("parameters").at("REGMODE_A").as_string();
}

}  // namespace

TEST_CASE("a register right behind a block memory becomes the memory's own") {
  NetlistCells cells;
  cells.memory("rom", {10, 11}, {20, 21});
  cells.flip_flop("low", 20, 30);
  cells.flip_flop("high", 21, 31);
  cells.outputs = {30, 31};
  const std::string changed = emit::with_output_registers(cells.text());
  const Tree after = cells_of(changed);
  CHECK(after.size() == 1);
  CHECK(mode(after, "rom") == "OUTREG");
  CHECK(after.at("rom").at("connections").at("OCEA") ==
        Tree::list_of(std::vector<int>{NetlistCells::enable}));
  check_equal(cells, changed, {10, 11});
}

TEST_CASE("a register behind the choice between two banks moves before it") {
  NetlistCells cells;
  cells.memory("bank0", {10, 11}, {20, 21});
  cells.memory("bank1", {10, 11}, {22, 23});
  cells.flip_flop("select", 12, 24);
  cells.multiplexer("low", 20, 22, 24, 25);
  cells.multiplexer("high", 21, 23, 24, 26);
  cells.flip_flop("low_kept", 25, 30);
  cells.flip_flop("high_kept", 26, 31);
  cells.outputs = {30, 31};
  const std::string changed = emit::with_output_registers(cells.text());
  const Tree after = cells_of(changed);
  CHECK(after.size() == 6);  // one register of the choice for both
  CHECK(mode(after, "bank0") == "OUTREG");
  CHECK(mode(after, "bank1") == "OUTREG");
  check_equal(cells, changed, {10, 11, 12});
}

TEST_CASE("memories whose words are used otherwise stay as they are") {
  const auto stays = [](const std::function<void(NetlistCells&)>& rest,
                        const char* clock_enable = nullptr) {
    NetlistCells cells;
    cells.memory("rom", {10}, {20, 21}, clock_enable);
    cells.flip_flop("low", 20, 30);
    cells.outputs = {30, 31};
    rest(cells);
    return cells_of(emit::with_output_registers(cells.text())) == cells.cells;
  };
  const auto plain = [](NetlistCells& cells) { cells.flip_flop("high", 21, 31); };
  CHECK_FALSE(stays(plain));
  CHECK(stays(plain, "4"));  // read under another enable
  CHECK(stays([](NetlistCells& cells) { cells.flip_flop("high", 21, 31, "1"); }));  // a reset
  CHECK(stays([](NetlistCells& cells) {  // a bit goes out as it is
    cells.flip_flop("high", 21, 31);
    cells.outputs.push_back(21);
  }));
  CHECK(stays([](NetlistCells& cells) {  // a neighbour that shares logic cannot
    cells.memory("other", {10}, {22, 23});
    cells.multiplexer("choice", 21, 22, 10, 25);
    cells.flip_flop("high", 25, 31);
    cells.outputs.push_back(23);
  }));
}
