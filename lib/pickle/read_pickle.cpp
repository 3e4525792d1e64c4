// SPDX-License-Identifier: Apache-2.0
// Reads pickled values without running code (pickle protocol 2; Python's pickletools.py documents
// the instructions).
#include "pickle/read_pickle.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "base/error.hpp"
#include "base/text.hpp"
#include "pickle/pickle_stack.hpp"

namespace mase::pickle {

namespace {

using Kind = PickleItem::Kind;

std::optional<DType> storage_dtype(const std::string& global) {
  static const std::map<std::string, DType> types{
      {"torch FloatStorage", DType::float32}, {"torch DoubleStorage", DType::float64},
      {"torch HalfStorage", DType::float16},  {"torch BFloat16Storage", DType::bfloat16},
      {"torch LongStorage", DType::int64},    {"torch IntStorage", DType::int32},
      {"torch ShortStorage", DType::int16},   {"torch CharStorage", DType::int8},
      {"torch ByteStorage", DType::uint8},    {"torch BoolStorage", DType::boolean},
  };
  const auto found = types.find(global);
  if (found == types.end()) return std::nullopt;
  return found->second;
}

bool are_all(const PickleItem& sequence, Kind kind) {
  return std::ranges::all_of(sequence.items,
                             [&](const PickleItem* item) { return item->kind == kind; });
}

/// Whether a tuple has exactly values of these kinds.
bool has_kinds(const PickleItem& tuple, std::initializer_list<Kind> kinds) {
  return tuple.kind == Kind::tuple &&
         std::ranges::equal(tuple.items, kinds, {},
                            [](const PickleItem* item) { return item->kind; });
}

/// The index of the last element that a tensor reaches, or nothing if the numbers are invalid.
std::optional<std::int64_t> last_element(const PickleItem& tensor) {
  std::int64_t last = tensor.integer;
  if (last < 0 || tensor.shape.size() != tensor.strides.size()) return std::nullopt;
  for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
    std::int64_t reach = 0;
    if (tensor.strides[d] < 0 || tensor.shape[d] < 0 ||
        __builtin_mul_overflow(std::max<std::int64_t>(tensor.shape[d] - 1, 0), tensor.strides[d],
                               &reach) ||
        __builtin_add_overflow(last, reach, &last))
      return std::nullopt;
  }
  return last;
}

/// How often a stored element may be repeated in a tensor.
constexpr std::int64_t most_repeats = 1 << 20;

class Reader {
 public:
  Reader(std::string_view bytes, const std::string& origin, PickleOf kind)
      : stack_(bytes, origin, kind), has_arrays_(kind == PickleOf::arrays) {}

  Pickle read() {
    while (step(static_cast<unsigned char>(stack_.take(1)[0]))) {
    }
    return stack_.finish();
  }

 private:
  void push_integer(std::int64_t value) { stack_.push(Kind::integer).integer = value; }

  /// Refuses valid storages with types of numbers that Arrays do not have.
  void refuse_unknown_numbers(const std::string& type) const {
    if (type.starts_with("torch Q"))
      unsupported_error(stack_.origin() + ": holds quantized tensors of torch.ao.quantization (" +
                        type + "); give the float model, which `mase transform` quantizes");
    if (type.starts_with("torch Complex"))
      unsupported_error(stack_.origin() + ": holds complex numbers (" + type +
                        "); supported are real numbers, integers and bool");
  }

  /// Reads ("storage", class, key, place, length).
  void persistent() {
    const PickleItem& id = *stack_.pop();
    if (!has_kinds(id, {Kind::text, Kind::global, Kind::text, Kind::text, Kind::integer}) ||
        id.items[0]->text != "storage")
      stack_.damaged("an unknown storage");
    const std::string& type = id.items[1]->text;
    const auto dtype = storage_dtype(type);
    if (!dtype) refuse_unknown_numbers(type);
    if (!dtype) stack_.damaged("a storage of the class '" + type + "'");
    if (id.items[3]->text.starts_with("meta")) stack_.damaged("a storage without values (meta)");
    PickleItem& storage = stack_.push(Kind::storage);
    storage.text = stack_.copy(id.items[2]->text);
    storage.dtype = *dtype;
    storage.stored = id.items[4]->integer;
  }

  Shape integers(const PickleItem& tuple) {
    if (tuple.kind != Kind::tuple || !are_all(tuple, Kind::integer))
      stack_.damaged("a tensor whose sizes are not a tuple of integers");
    Shape values;
    for (const PickleItem* item : stack_.copy(tuple.items)) values.push_back(item->integer);
    return values;
  }

  /// Reads (storage, offset, sizes, strides, requires gradient, hooks), and marks of views that
  /// negate or conjugate, whose values differ from those of the storage.
  void rebuild_tensor(const std::vector<const PickleItem*>& items) {
    if (items.size() < 4 || items[0]->kind != Kind::storage || items[1]->kind != Kind::integer)
      stack_.damaged("a tensor without storage and offset");
    if (items.size() != 6) stack_.require_python("a tensor of unusual arguments");
    const bool is_plain = items.size() < 5 || items[4]->kind == Kind::boolean;
    const bool has_hooks =
        items.size() > 5 && (items[5]->kind != Kind::dict || !items[5]->entries.empty());
    if (!is_plain || has_hooks) stack_.require_python("a tensor of unusual arguments");
    if (items.size() > 6 && items[6]->values > 1)
      stack_.damaged("a tensor that is a negated or conjugated view; call .contiguous() on it");
    PickleItem& tensor = stack_.push(Kind::tensor);
    tensor.text = stack_.copy(items[0]->text);
    tensor.dtype = items[0]->dtype;
    tensor.stored = items[0]->stored;
    tensor.integer = items[1]->integer;
    tensor.shape = integers(*items[2]);
    tensor.strides = integers(*items[3]);
  }

  /// Reads a list or dict and the text of its type.
  void tag_type(const PickleItem& arguments) {
    if (!has_kinds(arguments, {Kind::list, Kind::text}) &&
        !has_kinds(arguments, {Kind::dict, Kind::text}))
      stack_.damaged("a type on something else than a list or dict");
    constexpr std::size_t longest = 10'000;
    constexpr std::ptrdiff_t deepest = 50;
    const std::string& type = arguments.items[1]->text;
    if (type.size() > longest ||
        std::ranges::count(type, '[') + std::ranges::count(type, '(') > deepest)
      stack_.damaged("a type that is too long or too deep");
    stack_.push_again(const_cast<PickleItem*>(arguments.items[0]));
  }

  /// Reads values that TorchScript's pickler writes other than tensors and objects.
  void torchscript_value(const std::string& name, const PickleItem& arguments) {
    static const std::map<std::string, Kind> lists{{"build_intlist", Kind::integer},
                                                   {"build_boollist", Kind::boolean},
                                                   {"build_tensorlist", Kind::tensor},
                                                   {"build_doublelist", Kind::other}};
    if (name == "restore_type_tag") return tag_type(arguments);
    const auto row = lists.find(name);
    if (row == lists.end()) stack_.damaged("it calls '" + name + "', which is refused");
    if (!has_kinds(arguments, {Kind::list}) || !are_all(*arguments.items[0], row->second))
      stack_.damaged("'" + name + "' of other values");
    stack_.push_again(const_cast<PickleItem*>(arguments.items[0]));
  }

  /// For a value that the enum does not have, LibTorch takes one from its stack.
  [[noreturn]] void refuse_enum(const std::string& name) const {
    const std::size_t last = name.find_last_of(". ");
    unsupported_error(stack_.origin() + ": an attribute of the model is of the enum '" +
                      name.substr(last + 1) +
                      "', which is not read; keep its value in the attribute (Color.RED.value), or "
                      "save torch.jit.freeze(model)");
  }

  /// Reads a call. Only tensors, parameters and ordered dicts have a meaning; nothing is ever run.
  void reduce() {
    const PickleItem& arguments = *stack_.pop();
    const PickleItem& callee = *stack_.pop();
    const std::string& name = callee.text;
    constexpr std::string_view torchscript = "torch.jit._pickle ";
    if (callee.kind == Kind::global && name.starts_with("__torch__") &&
        arguments.kind != Kind::tuple)
      refuse_enum(name);
    if (callee.kind != Kind::global || arguments.kind != Kind::tuple)
      stack_.damaged("a call of no function");
    if (name == "collections OrderedDict") {
      if (!arguments.items.empty()) stack_.require_python("an ordered dict with arguments");
      stack_.push(Kind::dict);
    } else if (name == "torch._utils _rebuild_tensor_v2") {
      rebuild_tensor(arguments.items);
    } else if (name == "torch._utils _rebuild_parameter" && !arguments.items.empty()) {
      stack_.require_python("a parameter");
      stack_.push_again(const_cast<PickleItem*>(arguments.items[0]));
    } else if (has_arrays_ && numpy_value(name, arguments)) {
      return;
    } else if (name.starts_with(torchscript)) {
      torchscript_value(name.substr(torchscript.size()), arguments);
    } else if (name == "torch device" || name == "builtins complex") {
      stack_.push(Kind::other);
    } else {
      stack_.damaged("it calls '" + name + "', which is refused");
    }
  }

  /// Reads what arrays of numpy are made of, and the bytes that Python 3 writes as text.
  bool numpy_value(const std::string& name, const PickleItem& arguments) {
    const auto& items = arguments.items;
    if (name == "numpy.core.multiarray _reconstruct" ||
        name == "numpy._core.multiarray _reconstruct") {
      stack_.push(Kind::array);
    } else if (name == "numpy dtype" && !items.empty() && items[0]->kind == Kind::text) {
      const std::string& code = items[0]->text;
      if (code != "u1")
        unsupported_error(stack_.origin() + ": an array has numbers of type '" + code +
                          "'; only bytes (uint8) are read");
      stack_.push(Kind::number_type).text = stack_.copy(code);
    } else if (name == "_codecs encode" && has_kinds(arguments, {Kind::text, Kind::text})) {
      const std::string bytes = latin1_of(items[0]->text);
      stack_.push(Kind::text).text = stack_.copy(bytes);
    } else {
      return false;
    }
    return true;
  }

  /// The bytes whose numbers are the characters of a text.
  std::string latin1_of(const std::string& text) const {
    std::string bytes;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto first = static_cast<unsigned char>(text[i]);
      if (first < 0x80) {
        bytes += text[i];
        continue;
      }
      const unsigned next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
      if ((first != 0xC2 && first != 0xC3) || (next & 0xC0) != 0x80)
        stack_.damaged("a text of bytes has other characters");
      bytes += static_cast<char>((first & 3) << 6 | (next & 0x3F));
      ++i;
    }
    return bytes;
  }

  /// Reads (version, shape, type, whether the first index changes fastest, bytes).
  void fill_array(PickleItem& array, const PickleItem& state) {
    if (!has_kinds(state,
                   {Kind::integer, Kind::tuple, Kind::number_type, Kind::boolean, Kind::text}))
      stack_.damaged("an array of unusual parts");
    array.shape = integers(*state.items[1]);
    array.integer = state.items[3]->integer;
    array.text = stack_.copy(state.items[4]->text);
    const auto count = product_of(array.shape);
    if (!count || *count != static_cast<std::int64_t>(array.text.size()))
      stack_.damaged("an array of shape " + shape_text(array.shape) + " has " +
                     std::to_string(array.text.size()) + " bytes");
  }

  /// Gives an object its state.
  void build() {
    const PickleItem& state = *stack_.pop();
    PickleItem& object = stack_.top();
    if (object.kind == Kind::array) return fill_array(object, state);
    if (object.kind == Kind::number_type) return;  // a byte has no order of bytes
    stack_.finish_object(state);
  }

  /// Reads a string of bytes: of Python 2, or of Python 3.
  bool byte_string(unsigned char code) {
    const bool is_short = code == 'U' || code == 'C', is_long = code == 'T' || code == 'B';
    if (!has_arrays_ || (!is_short && !is_long)) return false;
    const std::string_view text = stack_.take(stack_.number(is_short ? 1 : 4));
    stack_.push(Kind::text).text = text;
    return true;
  }

  void global() {
    const std::string module = stack_.line();
    stack_.push(Kind::global).text = module + " " + stack_.line();
  }

  /// Refuses LibTorch's own classes, whose code would run on the object's state.
  void check_class(const PickleItem& callee, const PickleItem& arguments) const {
    const std::string& name = callee.text;
    if (name.starts_with("__torch__.torch.classes"))
      unsupported_error(stack_.origin() + ": holds an object of LibTorch's own class '" + name +
                        "', whose code would run while the file is loaded; save the model without "
                        "packed (torch.ao quantized) modules");
    if (callee.kind != Kind::global || !name.starts_with("__torch__") ||
        arguments.kind != Kind::tuple || !arguments.items.empty())
      stack_.damaged("an object of no TorchScript class");
  }

  /// Reads an object of any class. Only its attributes matter.
  void new_object() {
    const std::vector<PickleItem*> call = stack_.pop(2);  // class and arguments
    if (stack_.is_module()) check_class(*call[0], *call[1]);
    stack_.push(Kind::unfinished);
  }

  /// Executes one instruction. Returns false at the end.
  bool step(unsigned char code) {
    return code != '.' &&
           (literal(code) || byte_string(code) || container(code) || structure(code));
  }

  bool literal(unsigned char code) {
    switch (code) {
      case 0x80:
        stack_.take(1);
        return true;
      case 'N':
        stack_.push(Kind::other);
        return true;
      case 0x88:
      case 0x89:
        stack_.push(Kind::boolean).integer = code == 0x88;
        return true;
      case 'J':
        push_integer(static_cast<std::int32_t>(stack_.number(4)));
        return true;
      case 'K':
        push_integer(static_cast<std::int64_t>(stack_.number(1)));
        return true;
      case 'M':
        push_integer(static_cast<std::int64_t>(stack_.number(2)));
        return true;
      case 0x8a:
        long_integer();
        return true;
      case 'G':
        stack_.take(8);
        stack_.push(Kind::other);
        return true;
      case 'X': {
        const std::string_view text = stack_.take(stack_.number(4));
        stack_.push(Kind::text).text = text;
        return true;
      }
      case 'c':
        global();
        return true;
      default:
        return false;
    }
  }
  void long_integer() {
    const std::size_t bytes = stack_.number(1);
    if (bytes > 8) stack_.damaged("an integer of more than 64 bits");
    std::uint64_t value = stack_.number(bytes);
    if (bytes > 0 && bytes < 8 && (value >> (8 * bytes - 1)) != 0) value |= ~0ULL << (8 * bytes);
    push_integer(static_cast<std::int64_t>(value));
  }

  bool container(unsigned char code) {
    switch (code) {
      case '}':
        stack_.push(Kind::dict);
        return true;
      case ']':
        stack_.push(Kind::list);
        return true;
      case ')':
        stack_.push(Kind::tuple);
        return true;
      case '(':
        stack_.mark();
        return true;
      case 0x85:
      case 0x86:
      case 0x87:
        stack_.push_tuple(stack_.pop(code - 0x84U));
        return true;
      case 't':
        stack_.push_tuple(stack_.pop_to_mark());
        return true;
      case 'u':
        stack_.set_items(stack_.pop_to_mark());
        return true;
      case 's':
        stack_.set_items(stack_.pop(2));
        return true;
      case 'a':
        stack_.append(stack_.pop(1));
        return true;
      case 'e':
        stack_.append(stack_.pop_to_mark());
        return true;
      default:
        return false;
    }
  }

  bool structure(unsigned char code) {
    switch (code) {
      case 'q':
        stack_.put(stack_.number(1));
        return true;
      case 'r':
        stack_.put(stack_.number(4));
        return true;
      case 'h':
        stack_.get(stack_.number(1));
        return true;
      case 'j':
        stack_.get(stack_.number(4));
        return true;
      case 'Q':
        persistent();
        return true;
      case 'R':
        reduce();
        return true;
      case 0x81:
        new_object();
        return true;
      case 'b':
        build();
        return true;
      default:
        stack_.damaged("an unknown instruction");
    }
  }

  PickleStack stack_;
  bool has_arrays_;
};

}  // namespace

Pickle read_pickle(std::string_view bytes, const std::string& origin, PickleOf kind) {
  return Reader(bytes, origin, kind).read();
}

void check_extent(const PickleItem& item, std::uint64_t bytes, const std::string& origin) {
  const auto there = static_cast<std::int64_t>(bytes / size_of(item.dtype));
  if (item.kind == Kind::storage) {
    if (item.stored < 0 || item.stored > there)
      file_error(origin + ": the storage '" + item.text + "' should have " +
                 std::to_string(item.stored) + " elements but has " + std::to_string(there) +
                 "; save the model again");
    return;
  }
  const std::string what = origin + ": a tensor of shape " + shape_text(item.shape);
  const auto last = last_element(item);
  const auto elements = last ? product_of(item.shape) : std::nullopt;
  if (!elements || item.stored < 0) file_error(what + " has impossible sizes or strides");
  if (item.stored > there || (*elements > 0 && *last >= item.stored))
    file_error(what + " reaches beyond its storage '" + item.text + "', which has " +
               std::to_string(there) + " elements; save the model again");
  // A repeated element has the stride 0, but the array that is read will be dense.
  if (*elements / most_repeats > std::max<std::int64_t>(there, 1))
    file_error(what + " repeats its " + std::to_string(there) + " stored elements too often");
}

}  // namespace mase::pickle
