// SPDX-License-Identifier: Apache-2.0
// A hardware module with its parameters, of any type: what an instance of a design holds. What
// these types declare is in modules/module.hpp.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/field.hpp"
#include "hardware/design/module_parameters.hpp"

namespace mase::design {

class Handshake;
enum class Stages;
struct Cost;
struct Design;
struct ModuleRow;
struct Path;
struct Technology;
using Paths = std::vector<Path>;

/// What the struct of a module declares beside its fields. These have the names and the defaults of
/// its file of hw_templates, and the order in which instances print them.
template <class T>
concept HardwareModule = Reflected<T> &&
    requires(const T& module, Stages kept, const Design& design, const Technology& technology) {
  { T::module_name } -> std::convertible_to<std::string_view>;
  { T::row() } -> std::same_as<ModuleRow>;
  { module.handshake(kept) } -> std::same_as<std::unique_ptr<Handshake>>;
  { module.cost(design) } -> std::same_as<Cost>;
  { module.paths(technology) } -> std::same_as<Paths>;
};

/// A memory image that a host may write, and the parameter that says where it begins.
struct HostImage {
  std::string file;
  std::optional<std::int64_t>* base;
};

/// What a design asks of a module. Users' modules are classes of their own.
class ModuleBase {
 public:
  virtual ~ModuleBase() = default;
  virtual std::unique_ptr<ModuleBase> copy() const = 0;
  virtual const ModuleRow& row() const = 0;
  virtual ModuleParameters parameters() const = 0;  ///< as they are printed
  virtual std::unique_ptr<Handshake> handshake(Stages kept) const = 0;
  virtual Cost cost(const Design& design) const = 0;
  virtual Paths paths(const Technology& technology) const = 0;
  virtual std::vector<HostImage> host_images() { return {}; }
  virtual bool is_external() const { return false; }  ///< a module of the user's
};

/// A value: copies have parameters of their own.
class Module {
 public:
  template <HardwareModule T>
  Module(T module);  // NOLINT(google-explicit-constructor)
  explicit Module(std::unique_ptr<ModuleBase> held) : held_(std::move(held)) {}
  Module(const Module& other) : held_(other.held_->copy()) {}
  Module(Module&&) noexcept = default;
  Module& operator=(const Module& other) {
    held_ = other.held_->copy();
    return *this;
  }
  Module& operator=(Module&&) noexcept = default;
  ~Module() = default;

  const ModuleBase* operator->() const { return held_.get(); }
  ModuleBase* operator->() { return held_.get(); }
  const std::string& name() const;

  /// Its struct; null when it is another module.
  template <HardwareModule T>
  const T* as() const;

 private:
  std::unique_ptr<ModuleBase> held_;
};

}  // namespace mase::design
