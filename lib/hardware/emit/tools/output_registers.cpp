// SPDX-License-Identifier: Apache-2.0
// Retiming: f(a, b) in a register is f of registers of a and b. Every output of a memory's port
// must end in such a register, under the port's clock and enable. Which ports and registers these
// are is a fixed point: one that fails takes those along that it shares logic with.
#include "hardware/emit/tools/output_registers.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "base/tree.hpp"

namespace mase::emit {
namespace {

using Bit = std::int64_t;
using CellId = std::size_t;

/// What reads or drives nets: a row of a module's cells.
struct Cell {
  std::string name;
  Tree* tree;

  const std::string& type() const { return tree->at("type").as_string(); }
  const std::string& parameter(std::string_view key) const {
    return tree->at("parameters").at(key).as_string();
  }
  /// Nets of one bit: a number, or the text of a constant.
  Tree& net(const std::string& port) const { return (*tree->find("connections"))[port]; }
  bool is_output(const std::string& port) const {
    return tree->at("port_directions").at(port).as_string() == "output";
  }
  bool is_logic() const { return type() == "LUT4" || type() == "PFUMX" || type() == "L6MUX21"; }
};

/// The half of a block memory that one clock reads; all of it where it is 36 bits wide.
struct MemoryPort {
  CellId cell;
  std::vector<char> sides;   ///< of the names of its nets; the last one's clock reads
  std::vector<Bit> outputs;  ///< those in use

  char reader() const { return sides.back(); }
};

/// A register, the logic before it that nothing else reads, and what that reads.
struct Register {
  CellId cell;
  std::vector<CellId> logic;
  std::vector<Bit> from_memory, others;
};

const Tree constant_0 = Tree::list_of(std::vector<std::string>{"0"});
const Tree constant_1 = Tree::list_of(std::vector<std::string>{"1"});

Tree net_of(Bit bit) { return Tree::list_of(std::vector<Bit>{bit}); }

class Retiming {
 public:
  explicit Retiming(Tree& module) : cells_tree_(*module.find("cells")) {
    for (auto& [name, tree] : cells_tree_.as_dict()) cells_.push_back({name, &tree});
    for (CellId id = 0; id < cells_.size(); ++id)
      for (const auto& [port, net] : cells_[id].tree->at("connections").as_dict())
        connect(id, port, net);
    for (const auto& entry : module.at("ports").as_dict())
      for (const Tree& bit : entry.second.at("bits").as_list())
        if (bit.is_int()) ++readers_[bit.as_int()];
    find_ports();
    find_registers();
    settle();
  }

  void apply() {
    for (const MemoryPort& port : ports_) use_registers(port);
    for (const auto& entry : registers_) move(entry.second);
    std::erase_if(cells_tree_.as_dict(),
                  [&](const auto& entry) { return removed_.contains(entry.first); });
    for (auto& entry : added_) cells_tree_.as_dict().push_back(std::move(entry));
  }

 private:
  void connect(CellId id, const std::string& port, const Tree& net) {
    for (const Tree& bit : net.as_list()) {
      if (!bit.is_int()) continue;
      fresh_ = std::max(fresh_, bit.as_int() + 1);
      if (cells_[id].is_output(port))
        driver_[bit.as_int()] = id;
      else
        ++readers_[bit.as_int()];
    }
  }

  void find_ports() {
    for (CellId id = 0; id < cells_.size(); ++id) {
      if (cells_[id].type() != "DP16KD") continue;
      if (cells_[id].parameter("DATA_WIDTH_B").ends_with("100100")) {  // 36
        add_port({id, {'A', 'B'}, {}});
      } else {
        add_port({id, {'A'}, {}});
        add_port({id, {'B'}, {}});
      }
    }
  }

  void add_port(MemoryPort port) {
    const Cell& cell = cells_[port.cell];
    for (const auto& [name, net] : cell.tree->at("connections").as_dict())
      if (name.starts_with("DO") && std::ranges::count(port.sides, name[2]) > 0)
        for (const Tree& bit : net.as_list())
          if (bit.is_int() && readers_[bit.as_int()] > 0) port.outputs.push_back(bit.as_int());
    const std::string side(1, port.reader());
    if (port.outputs.empty() || cell.parameter("REGMODE_" + side) != "NOREG" ||
        cell.parameter("CLK" + side + "MUX") != "CLK" + side ||
        cell.net("RST" + side) != constant_0)
      return;
    for (const Bit bit : port.outputs) memory_bits_.insert(bit);
    ports_.push_back(std::move(port));
  }

  void find_registers() {
    for (CellId id = 0; id < cells_.size(); ++id) {
      const Cell& cell = cells_[id];
      if (cell.type() != "TRELLIS_FF" || cell.parameter("CLKMUX") != "CLK" ||
          cell.net("LSR") != constant_0)
        continue;
      Register found{id, {}, {}, {}};
      walk_back(cell.net("DI"), found);
      if (!found.from_memory.empty()) registers_.emplace(id, std::move(found));
    }
  }

  void walk_back(const Tree& net, Register& found) {
    for (const Tree& bit : net.as_list()) {
      if (!bit.is_int()) continue;
      const auto driver = driver_.find(bit.as_int());
      const bool alone = readers_[bit.as_int()] == 1;
      if (alone && memory_bits_.contains(bit.as_int())) {
        found.from_memory.push_back(bit.as_int());
      } else if (alone && driver != driver_.end() && cells_[driver->second].is_logic()) {
        found.logic.push_back(driver->second);
        for (const auto& [port, input] : cells_[driver->second].tree->at("connections").as_dict())
          if (!cells_[driver->second].is_output(port)) walk_back(input, found);
      } else {
        found.others.push_back(bit.as_int());
      }
    }
  }

  Tree enable_of(CellId id) const {
    return cells_[id].parameter("CEMUX") == "CE" ? cells_[id].net("CE") : constant_1;
  }

  /// Whether the register reads under the clock and enable of the memory's port.
  bool fits(const MemoryPort& port, CellId id) const {
    const std::string side(1, port.reader());
    return cells_[port.cell].net("CLK" + side) == cells_[id].net("CLK") &&
           cells_[port.cell].net("CE" + side) == enable_of(id);
  }

  void settle() {
    for (bool changed = true; changed;) {
      std::unordered_map<Bit, CellId> readers;
      for (const auto& [id, found] : registers_)
        for (const Bit bit : found.from_memory) readers[bit] = id;
      changed = std::erase_if(ports_, [&](const MemoryPort& port) {
                  return !std::ranges::all_of(port.outputs, [&](Bit bit) {
                    return readers.contains(bit) && fits(port, readers.at(bit));
                  });
                }) > 0;
      std::set<Bit> registered;
      for (const MemoryPort& port : ports_)
        registered.insert(port.outputs.begin(), port.outputs.end());
      std::erase_if(registers_, [&](const auto& entry) {
        return !std::ranges::all_of(entry.second.from_memory,
                                    [&](Bit bit) { return registered.contains(bit); });
      });
    }
  }

  void use_registers(const MemoryPort& port) {
    const Cell& cell = cells_[port.cell];
    const Tree enable = cell.net(std::string("CE") + port.reader());
    for (const char side : port.sides) {
      (*cell.tree->find("parameters"))[std::string("REGMODE_") + side] = Tree("OUTREG");
      cell.net(std::string("OCE") + side) = enable;
    }
  }

  /// What drove the register drives what it drove, and other inputs of the logic are registered.
  void move(const Register& found) {
    const Cell& cell = cells_[found.cell];
    const Bit before = cell.net("DI").as_list().front().as_int();
    const Cell& source = cells_[driver_.at(before)];
    for (auto& [port, net] : source.tree->find("connections")->as_dict())
      if (source.is_output(port) && net == net_of(before)) net = cell.net("Q");
    for (const CellId id : found.logic)
      for (auto& [port, net] : cells_[id].tree->find("connections")->as_dict())
        for (const Bit bit : found.others)
          if (!cells_[id].is_output(port) && net == net_of(bit))
            net = net_of(registered(bit, found));
    removed_.insert(cell.name);
  }

  /// The net of a register of `bit` like the one that is moved.
  Bit registered(Bit bit, const Register& found) {
    const std::string key = std::to_string(bit) + to_json(enable_of(found.cell), -1) +
                            to_json(cells_[found.cell].net("CLK"), -1);
    const auto [place, added] = copies_.emplace(key, fresh_);
    if (added) {
      Tree copy = *cells_[found.cell].tree;
      (*copy.find("connections"))["DI"] = net_of(bit);
      (*copy.find("connections"))["Q"] = net_of(fresh_++);
      added_.emplace_back(cells_[found.cell].name + "_retimed", std::move(copy));
    }
    return place->second;
  }

  Tree& cells_tree_;
  std::vector<Cell> cells_;
  std::unordered_map<Bit, CellId> driver_;
  std::unordered_map<Bit, int> readers_;
  std::set<Bit> memory_bits_;
  std::vector<MemoryPort> ports_;
  std::map<CellId, Register> registers_;
  std::map<std::string, Bit> copies_;
  std::set<std::string> removed_;
  Tree::Dict added_;
  Bit fresh_ = 0;
};

}  // namespace

std::string with_output_registers(const std::string& netlist) {
  Tree tree = parse_json(netlist, "the netlist of Yosys");
  for (auto& entry : tree.find("modules")->as_dict())
    if (entry.second.find("cells")) Retiming(entry.second).apply();
  return to_json(tree, -1);
}

}  // namespace mase::emit
