// SPDX-License-Identifier: Apache-2.0
// Reading of pickled values without running anything (pickle protocol 2; Python's pickletools.py
// documents the instructions).
#include "checkpoint/pickle.hpp"

#include <map>
#include <optional>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mase::checkpoint {

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

Shape integers(const std::vector<const PickleItem*>& items) {
  Shape values;
  for (const PickleItem* item : items) values.push_back(item->integer);
  return values;
}

/// The last element that a tensor reaches, or nothing when the numbers make no sense.
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

/// How often a stored element may occur in a tensor.
constexpr std::int64_t most_repeats = 1 << 20;

class Reader {
 public:
  Reader(std::string_view bytes, const std::string& origin) : bytes_(bytes), origin_(origin) {}

  Pickle read() {
    while (step(static_cast<unsigned char>(take(1)[0]))) {
    }
    pickle_.result = pop();
    return std::move(pickle_);
  }

 private:
  [[noreturn]] void damaged(const std::string& reason) const {
    file_error(origin_ + ": damaged or unusual pickle at byte " + std::to_string(at_) + ": " +
               reason);
  }

  std::string_view take(std::size_t count) {
    if (bytes_.size() - at_ < count) damaged("it ends early");
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }
  /// Little-endian, `bytes` long.
  std::uint64_t number(std::size_t bytes) {
    std::uint64_t value = 0;
    const std::string_view text = take(bytes);
    for (std::size_t i = 0; i < bytes; ++i)
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[i])) << (8 * i);
    return value;
  }
  std::string line() {
    const std::size_t end = bytes_.find('\n', at_);
    if (end == std::string_view::npos) damaged("it ends early");
    std::string text(bytes_.substr(at_, end - at_));
    at_ = end + 1;
    return text;
  }

  PickleItem& push(Kind kind) {
    pickle_.arena.emplace_back().kind = kind;
    stack_.push_back(&pickle_.arena.back());
    return pickle_.arena.back();
  }
  void push_integer(std::int64_t value) { push(Kind::integer).integer = value; }
  void push_text(std::string_view text) { push(Kind::text).text = text; }
  PickleItem* pop() {
    if (stack_.empty()) damaged("a value is missing");
    PickleItem* item = stack_.back();
    stack_.pop_back();
    return item;
  }
  PickleItem& top() {
    if (stack_.empty()) damaged("a value is missing");
    return *stack_.back();
  }
  /// The values above the last mark.
  std::vector<PickleItem*> pop_to_mark() {
    if (marks_.empty() || marks_.back() > stack_.size()) damaged("a mark is missing");
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<PickleItem*> items(first, stack_.end());
    stack_.resize(marks_.back());
    marks_.pop_back();
    return items;
  }

  void push_tuple(std::size_t count) {
    std::vector<PickleItem*> items(count);
    for (std::size_t i = count; i-- > 0;) items[i] = pop();
    push(Kind::sequence).items.assign(items.begin(), items.end());
  }
  void set_items(const std::vector<PickleItem*>& items) {
    for (std::size_t i = 0; i + 1 < items.size(); i += 2)
      if (items[i]->kind == Kind::text)
        top().entries.emplace_back(copy(items[i]->text), items[i + 1]);
  }

  /// Values may be referred to any number of times; what copies of them take is bounded by the size
  /// of the pickle.
  template <class Sequence>
  const Sequence& copy(const Sequence& value) {
    // Items may be pointers. NOLINTNEXTLINE(bugprone-sizeof-expression)
    copied_ += value.size() * sizeof(typename Sequence::value_type);
    if (copied_ > 64 * (bytes_.size() + 1024)) damaged("it repeats its values too often");
    return value;
  }

  /// Sound storages of numbers that Arrays do not have.
  void refuse_unknown_numbers(const std::string& type) const {
    if (type.starts_with("torch Q"))
      unsupported_error(origin_ + ": holds quantized tensors of torch.ao.quantization (" + type +
                        "); give the float model, which `mase transform` quantizes");
    if (type.starts_with("torch Complex"))
      unsupported_error(origin_ + ": holds complex numbers (" + type +
                        "); supported are real numbers, integers and bool");
  }

  /// ("storage", class, key, place, length)
  void persistent() {
    const PickleItem& id = *pop();
    if (id.items.size() != 5 || id.items[2]->kind != Kind::text) damaged("an unknown storage");
    const std::string& type = id.items[1]->text;
    const auto dtype = storage_dtype(type);
    if (!dtype) refuse_unknown_numbers(type);
    if (!dtype) damaged("a storage of the class '" + id.items[1]->text + "'");
    PickleItem& storage = push(Kind::storage);
    storage.text = copy(id.items[2]->text);
    storage.dtype = *dtype;
    storage.stored = id.items[4]->integer;
  }

  /// Calls: only tensors, parameters and ordered dicts mean something; nothing is ever run.
  void reduce() {
    const PickleItem& arguments = *pop();
    const PickleItem& callee = *pop();
    const auto& items = arguments.items;
    if (callee.text == "collections OrderedDict") {
      push(Kind::dict);
    } else if (callee.text == "torch._utils _rebuild_tensor_v2" && items.size() >= 4 &&
               items[0]->kind == Kind::storage) {
      PickleItem& tensor = push(Kind::tensor);
      tensor.text = copy(items[0]->text);
      tensor.dtype = items[0]->dtype;
      tensor.stored = items[0]->stored;
      tensor.integer = items[1]->integer;
      tensor.shape = integers(copy(items[2]->items));
      tensor.strides = integers(copy(items[3]->items));
    } else if (callee.text == "torch._utils _rebuild_parameter" && !items.empty()) {
      stack_.push_back(const_cast<PickleItem*>(items[0]));
    } else if (callee.text.starts_with("torch.jit._pickle ") || callee.text == "torch device" ||
               callee.text == "builtins complex") {
      push(Kind::other);  // typed lists and tags of TorchScript, and constants
    } else {
      damaged("it calls '" + callee.text + "', which is refused");
    }
  }

  void global() {
    const std::string module = line();
    push(Kind::global).text = module + " " + line();
  }
  void get(std::uint64_t place) {
    const auto found = memo_.find(place);
    if (found == memo_.end()) damaged("an unknown reference");
    stack_.push_back(found->second);
  }
  /// A TorchScript object of any class: nothing but its attributes.
  void new_object() {
    pop();
    pop();
    push(Kind::object);
  }
  /// Gives an object its attributes; those of other values (a state_dict's _metadata) are of no
  /// use here.
  void build() {
    const PickleItem& state = *pop();
    if (top().kind != Kind::object) return;
    for (const auto& entry : state.entries) copy(entry.first);
    top().entries = copy(state.entries);
  }
  void append(const std::vector<PickleItem*>& items) {
    top().items.insert(top().items.end(), items.begin(), items.end());
  }

  /// Executes one instruction; false at the end.
  bool step(unsigned char code) { return code != '.' && (literal(code) || structure(code)); }

  bool literal(unsigned char code) {
    switch (code) {
      case 0x80:
        take(1);
        return true;
      case 'N':
      case 0x88:
      case 0x89:
        push(Kind::other).integer = code == 0x88;
        return true;
      case 'J':
        push_integer(static_cast<std::int32_t>(number(4)));
        return true;
      case 'K':
        push_integer(static_cast<std::int64_t>(number(1)));
        return true;
      case 'M':
        push_integer(static_cast<std::int64_t>(number(2)));
        return true;
      case 0x8a:
        long_integer();
        return true;
      case 'G':
        take(8);
        push(Kind::other);
        return true;
      case 'X':
        push_text(take(number(4)));
        return true;
      case 'c':
        global();
        return true;
      default:
        return false;
    }
  }
  void long_integer() {
    const std::size_t bytes = number(1);
    if (bytes > 8) damaged("an integer of more than 64 bits");
    std::uint64_t value = number(bytes);
    if (bytes > 0 && bytes < 8 && (value >> (8 * bytes - 1)) != 0) value |= ~0ULL << (8 * bytes);
    push_integer(static_cast<std::int64_t>(value));
  }

  bool structure(unsigned char code) {
    switch (code) {
      case '}':
        push(Kind::dict);
        return true;
      case ']':
      case ')':
        push(Kind::sequence);
        return true;
      case '(':
        marks_.push_back(stack_.size());
        return true;
      case 0x85:
      case 0x86:
      case 0x87:
        push_tuple(code - 0x84U);
        return true;
      case 't': {
        const auto items = pop_to_mark();
        push(Kind::sequence).items.assign(items.begin(), items.end());
        return true;
      }
      case 'u':
        set_items(pop_to_mark());
        return true;
      case 's': {
        PickleItem* value = pop();
        PickleItem* key = pop();
        set_items({key, value});
        return true;
      }
      case 'a':
        append({pop()});
        return true;
      case 'e':
        append(pop_to_mark());
        return true;
      case 'q':
        memo_[number(1)] = &top();
        return true;
      case 'r':
        memo_[number(4)] = &top();
        return true;
      case 'h':
        get(number(1));
        return true;
      case 'j':
        get(number(4));
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
        damaged("an unknown instruction");
    }
  }

  std::string_view bytes_;
  const std::string& origin_;
  std::size_t at_ = 0, copied_ = 0;
  Pickle pickle_;
  std::vector<PickleItem*> stack_;
  std::vector<std::size_t> marks_;
  std::map<std::uint64_t, PickleItem*> memo_;
};

}  // namespace

Pickle read_pickle(std::string_view bytes, const std::string& origin) {
  return Reader(bytes, origin).read();
}

void check_extent(const PickleItem& tensor, std::uint64_t bytes, const std::string& origin) {
  const std::string what = origin + ": a tensor of shape " + shape_text(tensor.shape);
  const auto last = last_element(tensor);
  const auto elements = last ? product_of(tensor.shape) : std::nullopt;
  if (!elements || tensor.stored < 0) file_error(what + " has impossible sizes or strides");
  const auto there = static_cast<std::int64_t>(bytes / size_of(tensor.dtype));
  if (tensor.stored > there || (*elements > 0 && *last >= tensor.stored))
    file_error(what + " reaches beyond its storage '" + tensor.text + "', which has " +
               std::to_string(there) + " elements; save the model again");
  // A repeated element has the stride 0; what is read becomes dense.
  if (*elements / most_repeats > std::max<std::int64_t>(there, 1))
    file_error(what + " repeats its " + std::to_string(there) + " stored elements too often");
}

}  // namespace mase::checkpoint
