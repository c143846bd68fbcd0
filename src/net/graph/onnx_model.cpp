#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include <fcntl.h>
#include <protozero/pbf_reader.hpp>
#include <unistd.h>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "net/graph/net_builder.hpp"
#include "stage/options/stage_text.hpp"

namespace gpufilter {
namespace {

// The storage of a tensor in a file, besides elements in separate fields.
struct StoredTensor {
  std::int64_t type = 0;                               // an OnnxType, or one that is not read
  std::optional<std::string_view> raw = std::nullopt;  // little endian
  bool external = false;                               // in the file that `entries` name
  std::map<std::string, std::string> entries = {};     // "location", "offset", "length"
};

// Numbers in all tensors and attributes of a network: as single precision they fill the largest
// file.
inline constexpr std::uint64_t most_numbers = net_file_bytes / 4;

// Floats of 16 bits: with 5 or 8 bits of exponent.
template <bool brain>
struct ShortFloat {
  std::uint16_t bits;

  [[nodiscard]] explicit operator float() const {
    const auto wide = static_cast<std::uint32_t>(bits);
    if constexpr (brain) return std::bit_cast<float>(wide << 16U);
    const std::uint32_t sign = (wide & 0x8000U) << 16U;
    const std::uint32_t rest = wide & 0x7fffU;
    if (rest >= 0x7c00U) return std::bit_cast<float>(sign | 0x7f800000U | (rest << 13U));
    // The exponent is 112 less, also of numbers that are not normal.
    const float size = std::bit_cast<float>(rest << 13U) * 0x1p112F;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(size));
  }
};
template <typename Number>
inline constexpr bool is_short_float =
    std::is_same_v<Number, ShortFloat<true>> || std::is_same_v<Number, ShortFloat<false>>;

// Calls call.operator()<Number>() for the type of a tensor's numbers; `otherwise` if it is not
// read.
template <typename Result, typename Call>
Result for_type(std::int64_t type, Result otherwise, const Call& call) {
  if (!std::in_range<int>(type)) return otherwise;
  switch (static_cast<OnnxType>(type)) {
    case OnnxType::float32:
      return call.template operator()<float>();
    case OnnxType::float64:
      return call.template operator()<double>();
    case OnnxType::uint8:
      return call.template operator()<std::uint8_t>();
    case OnnxType::int8:
      return call.template operator()<std::int8_t>();
    case OnnxType::int32:
      return call.template operator()<std::int32_t>();
    case OnnxType::int64:
      return call.template operator()<std::int64_t>();
    case OnnxType::boolean:
      return call.template operator()<std::uint8_t>();
    case OnnxType::float16:
      return call.template operator()<ShortFloat<false>>();
    case OnnxType::bfloat16:
      return call.template operator()<ShortFloat<true>>();
  }
  return otherwise;
}

// Little endian.
template <typename Number>
void set_numbers(OnnxTensor& tensor, std::string_view raw) {
  using Bits = std::conditional_t<
      sizeof(Number) == 1, std::uint8_t,
      std::conditional_t<sizeof(Number) == 2, std::uint16_t,
                         std::conditional_t<sizeof(Number) == 4, std::uint32_t, std::uint64_t>>>;
  tensor.floats.clear();
  tensor.integers.clear();
  const auto add = [&]<typename To>(std::vector<To>& to) {
    to.reserve(raw.size() / sizeof(Number));
    for (std::size_t at = 0; at < raw.size(); at += sizeof(Number)) {
      std::uint64_t bits = 0;
      for (std::size_t i = 0; i < sizeof(Number); ++i)
        bits |= static_cast<std::uint64_t>(static_cast<unsigned char>(raw[at + i])) << (8 * i);
      to.push_back(static_cast<To>(std::bit_cast<Number>(static_cast<Bits>(bits))));
    }
  };
  if constexpr (std::is_floating_point_v<Number> || is_short_float<Number>) {
    add(tensor.floats);
  } else {
    add(tensor.integers);
  }
}

// Failures of one tensor.
class Reporter {
 public:
  Reporter(const std::string& network, const std::string& tensor)
      : network_(network), tensor_(printable(tensor)) {}

  [[noreturn]] void fail(const std::string& reason) const {
    throw UsageError(formatted("{}: the tensor {}: {}", network_, tensor_, reason));
  }

  void check_bytes(std::uint64_t bytes, std::uint64_t needed) const {
    if (bytes == needed) return;
    fail(formatted("{} bytes where its dimensions require {}; the file is damaged", bytes, needed));
  }

 private:
  const std::string& network_;
  std::string tensor_;
};

std::uint64_t place_in_file(const std::string& text, std::uint64_t otherwise,
                            const Reporter& report) {
  if (text.empty()) return otherwise;
  constexpr std::size_t digits = 15;
  if (text.size() > digits || text.find_first_not_of("0123456789") != std::string::npos)
    report.fail(formatted("\"{}\" is not an offset in a file", printable(text)));
  return std::stoull(text);
}

// The bytes of a tensor in another file. No more are read than needed.
std::string external_bytes(const StoredTensor& stored, const std::string& folder_name,
                           std::uint64_t needed, const Reporter& report) {
  namespace fs = std::filesystem;
  const auto value = [&](const char* key) {
    const auto found = stored.entries.find(key);
    return found == stored.entries.end() ? std::string() : found->second;
  };
  const fs::path location = value("location");
  std::error_code error;
  const fs::path folder = fs::weakly_canonical(folder_name.empty() ? "." : folder_name, error);
  const fs::path file = error ? fs::path() : fs::weakly_canonical(folder / location, error);
  const bool inside =
      std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first == folder.end();
  if (error || location.empty() || location.is_absolute() || !inside || file == folder) {
    report.fail(
        formatted("its data is in \"{}\", outside the network's folder; put both files into one "
                  "folder, or export a single file",
                  printable(location.string())));
  }
  const std::uint64_t offset = place_in_file(value("offset"), 0, report);
  try {
    const FileDescriptor opened = open_regular_file(file.string(), O_RDONLY);
    const auto size = static_cast<std::uint64_t>(::lseek(opened.get(), 0, SEEK_END));
    const std::uint64_t rest = offset > size ? 0 : size - offset;
    const std::uint64_t length = place_in_file(value("length"), rest, report);
    if (offset > size || length > rest) {
      report.fail(formatted("its data would extend past the end of {}; the file is damaged",
                            printable(location.string())));
    }
    report.check_bytes(length, needed);
    std::string bytes(length, '\0');
    ::lseek(opened.get(), static_cast<off_t>(offset), SEEK_SET);
    bytes.resize(
        read_fully(opened.get(), {reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()}));
    return bytes;
  } catch (const std::system_error& failure) {
    throw UsageError(formatted("{}: {}", file.string(), reason_of(failure)));
  }
}

// Sets the type of `tensor`, whose name, dimensions and fields have been read, and its numbers if
// they are bytes; `room` is how many it may have. `network` is the network's name for messages,
// `folder` where it lies. Throws UsageError if there are more numbers, or another count than the
// dimensions require.
void complete(OnnxTensor& tensor, const StoredTensor& stored, std::uint64_t room,
              const std::string& network, const std::string& folder) {
  const Reporter report(network, tensor.name);
  const auto width =
      for_type(stored.type, std::size_t{0}, []<typename Number>() { return sizeof(Number); });
  if (width == 0) {
    report.fail(
        formatted("its type is number {}; only float, double, float16, bfloat16, uint8, int8, "
                  "int32, int64 and bool are supported",
                  stored.type));
  }
  tensor.type = static_cast<OnnxType>(stored.type);
  std::uint64_t count = 1;
  for (const std::int64_t size : tensor.dimensions) {
    const bool fits = size >= 0 && static_cast<std::uint64_t>(size) <= most_numbers;
    if (!fits || (count *= static_cast<std::uint64_t>(size)) > room)
      report.fail(formatted("more than {} numbers in all, the limit for a network", most_numbers));
  }
  std::string file;
  std::optional<std::string_view> raw = stored.raw;
  if (stored.external) raw = file = external_bytes(stored, folder, count * width, report);
  if (raw) {
    report.check_bytes(raw->size(), count * width);
    for_type(stored.type, 0, [&]<typename Number>() {
      set_numbers<Number>(tensor, *raw);
      return 0;
    });
  }
  // Floats of 16 bits may be in fields of whole numbers.
  for_type(stored.type, 0, [&]<typename Number>() {
    if constexpr (is_short_float<Number>) {
      for (const std::int64_t bits : std::exchange(tensor.integers, {}))
        tensor.floats.push_back(static_cast<float>(Number{static_cast<std::uint16_t>(bits)}));
    }
    return 0;
  });
  // Whole numbers need not be stored in as many bits as their type has.
  for (const std::int64_t number : tensor.integers) {
    const bool fits = for_type(stored.type, true, [&]<typename Number>() {
      if constexpr (std::is_integral_v<Number>) return std::in_range<Number>(number);
      return true;
    });
    if (!fits) report.fail(formatted("its type cannot hold {}; the file is damaged", number));
  }
  if (tensor.count() != count) {
    report.fail(formatted("{} numbers where its dimensions require {}; the file is damaged",
                          tensor.count(), count));
  }
}

using protozero::pbf_reader;
using Wire = protozero::pbf_wire_type;

// A field by its number in onnx.proto, and its destination: a variable, or a function of its bytes.
template <typename To>
struct Field {
  std::uint32_t number;
  To&& to;
};
template <typename To>
Field(std::uint32_t, To&&) -> Field<To>;

// Numbers of double precision, which become floats.
struct Doubles {
  std::vector<float>& floats;
};

// Reads the messages of one file; failures name it.
class ModelParser {
 public:
  ModelParser(const std::string& name, const std::string& folder) : name_(name), folder_(folder) {}

  OnnxModel model(std::string_view message) {
    OnnxModel model;
    bool has_graph = false;
    const auto take_graph = [&](std::string_view bytes) {
      has_graph = true;
      graph(bytes, model);
    };
    read(message, Field{7, take_graph},
         Field{8, [&](std::string_view bytes) { operator_set(bytes, model); }},
         Field{14, [&](std::string_view bytes) { model.metadata.insert(entry(bytes)); }});
    if (!has_graph) fail("is not an ONNX network: it has no graph");
    return model;
  }

  [[noreturn]] void fail(const std::string& reason) const {
    throw UsageError(formatted("{}: {}", name_, reason));
  }

 private:
  // Reads the fields with a destination; others are skipped, and fields of another type too.
  template <typename... Fields>
  void read(std::string_view bytes, const Fields&... fields) {
    pbf_reader message(bytes.data(), bytes.size());
    while (message.next()) {
      count_field();
      if (!((message.tag() == fields.number && take(message, fields.to)) || ...)) message.skip();
    }
  }

  // Short fields take many times their bytes in memory.
  void count_field() {
    constexpr std::uint64_t most_fields = std::uint64_t{1} << 20U;
    if (++fields_ > most_fields)
      fail(formatted("has more than {} fields, the limit for a network", most_fields));
  }

  // Each takes a field, unless it has another type.
  static bool take(pbf_reader& message, std::string& to) {
    const bool fits = message.wire_type() == Wire::length_delimited;
    if (fits) to = message.get_string();
    return fits;
  }
  static bool take(pbf_reader& message, std::vector<std::string>& to) {
    const bool fits = message.wire_type() == Wire::length_delimited;
    if (fits) to.push_back(message.get_string());
    return fits;
  }
  static bool take(pbf_reader& message, std::int64_t& to) {
    const bool fits = message.wire_type() == Wire::varint;
    if (fits) to = message.get_int64();
    return fits;
  }
  static bool take(pbf_reader& message, float& to) {
    const bool fits = message.wire_type() == Wire::fixed32;
    if (fits) to = message.get_float();
    return fits;
  }
  template <std::invocable<std::string_view> Function>
  static bool take(pbf_reader& message, const Function& function) {
    const bool fits = message.wire_type() == Wire::length_delimited;
    if (fits) {
      const auto view = message.get_view();
      function(std::string_view(view.data(), view.size()));
    }
    return fits;
  }
  bool take(pbf_reader& message, std::vector<std::int64_t>& to) {
    return append(message, Wire::varint, to, &pbf_reader::get_int64, &pbf_reader::get_packed_int64);
  }
  bool take(pbf_reader& message, std::vector<float>& to) {
    return append(message, Wire::fixed32, to, &pbf_reader::get_float,
                  &pbf_reader::get_packed_float);
  }
  bool take(pbf_reader& message, const Doubles& to) {
    return append(message, Wire::fixed64, to.floats, &pbf_reader::get_double,
                  &pbf_reader::get_packed_double);
  }

  // Numbers may be packed.
  template <typename Target, typename One, typename Packed>
  bool append(pbf_reader& message, Wire one_type, std::vector<Target>& to, One one, Packed packed) {
    if (message.wire_type() == Wire::length_delimited) {
      for (const auto number : (message.*packed)())
        push(to, number);
      return true;
    }
    if (message.wire_type() != one_type) return false;
    push(to, (message.*one)());
    return true;
  }
  template <typename Target, typename Number>
  void push(std::vector<Target>& to, Number number) {
    if (++numbers_ > most_numbers)
      fail(formatted("has more than {} numbers, the limit for a network", most_numbers));
    to.push_back(static_cast<Target>(number));
  }

  void operator_set(std::string_view message, OnnxModel& model) {
    std::string domain;
    std::int64_t version = 0;
    read(message, Field{1, domain}, Field{2, version});
    if (domain.empty() || domain == "ai.onnx") model.operator_set = version;
  }

  void graph(std::string_view message, OnnxModel& model) {
    std::vector<OnnxInput> inputs;
    const auto add_constant = [&](std::string_view bytes) {
      OnnxTensor constant = tensor(bytes);
      std::string name = constant.name;
      model.constants.insert_or_assign(std::move(name), std::move(constant));
    };
    const auto refuse_sparse = [&](std::string_view /*bytes*/) {
      fail("has sparse constants, which are not supported; export it without them");
    };
    read(
        message, Field{1, [&](std::string_view bytes) { model.nodes.push_back(node(bytes)); }},
        Field{5, add_constant},
        Field{11, [&](std::string_view bytes) { inputs.push_back(value_info(bytes)); }},
        Field{12, [&](std::string_view bytes) { model.outputs.push_back(value_info(bytes).name); }},
        Field{15, refuse_sparse});
    for (OnnxInput& input : inputs) {
      if (!model.constants.contains(input.name)) model.inputs.push_back(std::move(input));
    }
  }

  OnnxNode node(std::string_view message) {
    OnnxNode node;
    read(message, Field{1, node.inputs}, Field{2, node.outputs}, Field{3, node.name},
         Field{4, node.type}, Field{7, node.domain},
         Field{5, [&](std::string_view bytes) { node.attributes.push_back(attribute(bytes)); }});
    if (node.domain == "ai.onnx") node.domain.clear();
    return node;
  }

  OnnxAttribute attribute(std::string_view message) {
    OnnxAttribute attribute;
    read(message, Field{1, attribute.name}, Field{2, attribute.number}, Field{3, attribute.integer},
         Field{4, attribute.text}, Field{7, attribute.numbers}, Field{8, attribute.integers},
         Field{5, [&](std::string_view bytes) { attribute.tensor = tensor(bytes); }});
    return attribute;
  }

  OnnxTensor tensor(std::string_view message) {
    OnnxTensor tensor;
    StoredTensor stored;
    std::int64_t location = 0;  // 1: in another file
    read(message, Field{1, tensor.dimensions}, Field{2, stored.type}, Field{4, tensor.floats},
         Field{5, tensor.integers}, Field{7, tensor.integers}, Field{8, tensor.name},
         Field{9, [&](std::string_view bytes) { stored.raw = bytes; }},
         Field{10, Doubles{tensor.floats}},
         Field{13, [&](std::string_view bytes) { stored.entries.insert(entry(bytes)); }},
         Field{14, location});
    stored.external = location == 1;
    const std::uint64_t in_fields = tensor.floats.size() + tensor.integers.size();
    complete(tensor, stored, most_numbers - numbers_ + in_fields, name_, folder_);
    numbers_ += tensor.count() - in_fields;
    return tensor;
  }

  std::pair<std::string, std::string> entry(std::string_view message) {
    std::pair<std::string, std::string> entry;
    read(message, Field{1, entry.first}, Field{2, entry.second});
    return entry;
  }

  OnnxInput value_info(std::string_view message) {
    OnnxInput input;
    read(message, Field{1, input.name},
         Field{2, [&](std::string_view bytes) { input.dimensions = shape(bytes); }});
    return input;
  }

  // The dimensions in a TypeProto: of its tensor's shape.
  std::vector<std::int64_t> shape(std::string_view message) {
    constexpr std::uint32_t tensor_type = 1, shape_of_tensor = 2, dimension_of_shape = 1,
                            size_field = 1;
    pbf_reader type(message.data(), message.size());
    std::vector<std::int64_t> dimensions;
    while (type.next(tensor_type, Wire::length_delimited)) {
      pbf_reader tensor = type.get_message();
      while (tensor.next(shape_of_tensor, Wire::length_delimited)) {
        pbf_reader shape = tensor.get_message();
        while (shape.next(dimension_of_shape, Wire::length_delimited)) {
          pbf_reader dimension = shape.get_message();
          count_field();
          std::int64_t size = -1;
          while (dimension.next(size_field, Wire::varint))
            size = dimension.get_int64();
          dimensions.push_back(size);
        }
      }
    }
    return dimensions;
  }

  const std::string& name_;
  const std::string& folder_;
  std::uint64_t numbers_ = 0;  // in tensors and attributes so far
  std::uint64_t fields_ = 0;   // of messages
};

}  // namespace

const OnnxAttribute* OnnxNode::attribute(std::string_view wanted) const {
  const auto found = std::find_if(attributes.begin(), attributes.end(),
                                  [&](const OnnxAttribute& a) { return a.name == wanted; });
  return found == attributes.end() ? nullptr : &*found;
}

OnnxModel parse_onnx(std::string_view bytes, const std::string& name, const std::string& folder) {
  ModelParser parser(name, folder);
  try {
    return parser.model(bytes);
  } catch (const protozero::exception&) {
    parser.fail("is not an ONNX network, or damaged");
  }
}

OnnxModel read_onnx(const InputFile& file) {
  return parse_onnx(read_stage_bytes(file, net_file_bytes), file.name,
                    std::filesystem::path(file.name).parent_path().string());
}

}  // namespace gpufilter
