#include "net/graph/onnx_model.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <protozero/pbf_reader.hpp>
#include <unistd.h>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "stage/options/limited_file.hpp"

namespace gpufilter {
namespace {

// How a file holds a tensor, besides numbers in fields of their own.
struct StoredTensor {
  std::int64_t type = 0;                               // an OnnxType, or one that is not read
  std::optional<std::string_view> raw = std::nullopt;  // little endian
  bool external = false;                               // in the file that `entries` name
  std::map<std::string, std::string> entries = {};     // "location", "offset", "length"
};

// Numbers in all tensors and attributes of a network: as single precision they fill the largest
// file.
inline constexpr std::uint64_t most_numbers = stage_file_limit / 4;

std::size_t bytes_of(std::int64_t type) {
  switch (type) {
    case static_cast<int>(OnnxType::uint8):
    case static_cast<int>(OnnxType::int8):
      return 1;
    case static_cast<int>(OnnxType::float32):
    case static_cast<int>(OnnxType::int32):
      return 4;
    case static_cast<int>(OnnxType::int64):
    case static_cast<int>(OnnxType::float64):
      return 8;
    default:
      return 0;
  }
}

void add_number(OnnxTensor& tensor, std::uint64_t bits) {
  switch (tensor.type) {
    case OnnxType::float32:
      return tensor.floats.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    case OnnxType::float64:
      return tensor.floats.push_back(static_cast<float>(std::bit_cast<double>(bits)));
    case OnnxType::uint8:
      return tensor.integers.push_back(static_cast<std::int64_t>(bits));
    case OnnxType::int8:
      return tensor.integers.push_back(static_cast<std::int8_t>(bits));
    case OnnxType::int32:
      return tensor.integers.push_back(static_cast<std::int32_t>(bits));
    case OnnxType::int64:
      return tensor.integers.push_back(static_cast<std::int64_t>(bits));
  }
}

// Whole numbers need not be stored in as many bits as their type has.
bool fits(OnnxType type, std::int64_t number) {
  switch (type) {
    case OnnxType::uint8:
      return std::in_range<std::uint8_t>(number);
    case OnnxType::int8:
      return std::in_range<std::int8_t>(number);
    case OnnxType::int32:
      return std::in_range<std::int32_t>(number);
    default:
      return true;
  }
}

void set_numbers(OnnxTensor& tensor, std::string_view raw, std::size_t width) {
  tensor.floats.clear();
  tensor.integers.clear();
  tensor.is_float() ? tensor.floats.reserve(raw.size() / width)
                    : tensor.integers.reserve(raw.size() / width);
  for (std::size_t at = 0; at < raw.size(); at += width) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < width; ++i)
      bits |= static_cast<std::uint64_t>(static_cast<unsigned char>(raw[at + i])) << (8 * i);
    add_number(tensor, bits);
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
    fail(formatted("{} bytes where its dimensions ask for {}; the file is damaged", bytes, needed));
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
    report.fail(formatted("\"{}\" is not a place in a file", printable(text)));
  return std::stoull(text);
}

// The bytes of a tensor that are in another file, as many as needed. No others are read.
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
// `folder` where it lies. Throws UsageError if the numbers are more, or not as many as the
// dimensions ask for.
void complete(OnnxTensor& tensor, const StoredTensor& stored, std::uint64_t room,
              const std::string& network, const std::string& folder) {
  const Reporter report(network, tensor.name);
  const std::size_t width = bytes_of(stored.type);
  if (width == 0) {
    report.fail(
        formatted("its type is number {}; only float, double, uint8, int8, int32 and int64 "
                  "are supported",
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
    set_numbers(tensor, *raw, width);
  }
  for (const std::int64_t number : tensor.integers) {
    if (!fits(tensor.type, number))
      report.fail(formatted("its type cannot hold {}; the file is damaged", number));
  }
  if (tensor.count() != count) {
    report.fail(formatted("{} numbers where its dimensions ask for {}; the file is damaged",
                          tensor.count(), count));
  }
}

using protozero::pbf_reader;
using Wire = protozero::pbf_wire_type;

// The numbers of the fields in onnx.proto that are read.
namespace field {
namespace model {
enum : std::uint32_t { operator_sets = 8, graph = 7 };
}  // namespace model
namespace operator_set {
enum : std::uint32_t { domain = 1, version = 2 };
}  // namespace operator_set
namespace graph {
enum : std::uint32_t { nodes = 1, constants = 5, inputs = 11, outputs = 12, sparse_constants = 15 };
}  // namespace graph
namespace node {
enum : std::uint32_t { inputs = 1, outputs = 2, name = 3, type = 4, attributes = 5, domain = 7 };
}  // namespace node
namespace attribute {
enum : std::uint32_t {
  name = 1,
  number = 2,
  integer = 3,
  text = 4,
  tensor = 5,
  numbers = 7,
  integers = 8
};
}  // namespace attribute
namespace tensor {
enum : std::uint32_t {
  dimensions = 1,
  type = 2,
  floats = 4,
  int32s = 5,
  int64s = 7,
  name = 8,
  raw = 9,
  doubles = 10,
  external = 13,
  location = 14
};
}  // namespace tensor
namespace entry {
enum : std::uint32_t { key = 1, value = 2 };
}  // namespace entry
namespace value_info {
enum : std::uint32_t { name = 1, type = 2 };
}  // namespace value_info
namespace type {  // a tensor, its shape, a dimension of that, its size
enum : std::uint32_t { tensor = 1, shape = 2, dimension = 1, size = 1 };
}  // namespace type
}  // namespace field

// Reads the messages of one file; failures name it.
class ModelParser {
 public:
  ModelParser(const std::string& name, const std::string& folder) : name_(name), folder_(folder) {}

  OnnxModel model(pbf_reader message) {
    OnnxModel model;
    bool has_graph = false;
    each(message, [&](std::uint32_t tag, Wire wire) {
      if (tag == field::model::graph && wire == Wire::length_delimited) {
        has_graph = true;
        graph(message.get_message(), model);
      } else if (tag == field::model::operator_sets && wire == Wire::length_delimited) {
        operator_set(message.get_message(), model);
      } else {
        message.skip();
      }
    });
    if (!has_graph) fail("is not an ONNX network: it has no graph");
    return model;
  }

  [[noreturn]] void fail(const std::string& reason) const {
    throw UsageError(formatted("{}: {}", name_, reason));
  }

 private:
  // Calls take(tag, wire type) for each field; it has to read or skip the field.
  template <typename Take>
  void each(pbf_reader& message, const Take& take) {
    while (message.next()) {
      count_field();
      take(message.tag(), message.wire_type());
    }
  }

  // Short fields take many times their bytes in memory.
  void count_field() {
    constexpr std::uint64_t most_fields = std::uint64_t{1} << 18U;
    if (++fields_ > most_fields)
      fail(formatted("has more than {} fields, the limit for a network", most_fields));
  }

  static std::string text(pbf_reader& message, Wire wire) {
    if (wire == Wire::length_delimited) return message.get_string();
    message.skip();
    return {};
  }

  // Appends the numbers of a field that may be packed.
  template <typename Number, typename Target>
  void append(pbf_reader& message, Wire wire, std::vector<Target>& to) {
    const auto add = [&](const auto& range) {
      for (const auto number : range)
        push(to, static_cast<Number>(number));
    };
    if constexpr (std::is_same_v<Number, float>) {
      if (wire == Wire::length_delimited) return add(message.get_packed_float());
      if (wire == Wire::fixed32) return push(to, message.get_float());
    } else if constexpr (std::is_same_v<Number, double>) {
      if (wire == Wire::length_delimited) return add(message.get_packed_double());
      if (wire == Wire::fixed64) return push(to, message.get_double());
    } else {
      if (wire == Wire::length_delimited) return add(message.get_packed_int64());
      if (wire == Wire::varint) return push(to, message.get_int64());
    }
    message.skip();
  }
  template <typename Target, typename Number>
  void push(std::vector<Target>& to, Number number) {
    if (++numbers_ > most_numbers)
      fail(formatted("has more than {} numbers, the limit for a network", most_numbers));
    to.push_back(static_cast<Target>(number));
  }

  void operator_set(pbf_reader message, OnnxModel& model) {
    std::string domain;
    std::int64_t version = 0;
    each(message, [&](std::uint32_t tag, Wire wire) {
      if (tag == field::operator_set::domain) {
        domain = text(message, wire);
      } else if (tag == field::operator_set::version && wire == Wire::varint) {
        version = message.get_int64();
      } else {
        message.skip();
      }
    });
    if (domain.empty() || domain == "ai.onnx") model.operator_set = version;
  }

  void graph(pbf_reader message, OnnxModel& model) {
    std::vector<OnnxInput> inputs;
    each(message, [&](std::uint32_t tag, Wire wire) {
      if (wire != Wire::length_delimited) return message.skip();
      switch (tag) {
        case field::graph::nodes:
          model.nodes.push_back(node(message.get_message()));
          break;
        case field::graph::constants: {
          OnnxTensor constant = tensor(message.get_message());
          std::string name = constant.name;
          model.constants.insert_or_assign(std::move(name), std::move(constant));
          break;
        }
        case field::graph::inputs:
          inputs.push_back(value_info(message.get_message()));
          break;
        case field::graph::outputs:
          model.outputs.push_back(value_info(message.get_message()).name);
          break;
        case field::graph::sparse_constants:
          fail("has sparse constants, which are not supported; export it without them");
        default:
          message.skip();
      }
    });
    for (OnnxInput& input : inputs) {
      if (!model.constants.contains(input.name)) model.inputs.push_back(std::move(input));
    }
  }

  OnnxNode node(pbf_reader message) {
    OnnxNode node;
    each(message, [&](std::uint32_t tag, Wire wire) {
      if (wire != Wire::length_delimited) return message.skip();
      switch (tag) {
        case field::node::inputs:
          node.inputs.push_back(message.get_string());
          break;
        case field::node::outputs:
          node.outputs.push_back(message.get_string());
          break;
        case field::node::name:
          node.name = message.get_string();
          break;
        case field::node::type:
          node.type = message.get_string();
          break;
        case field::node::domain:
          node.domain = message.get_string();
          break;
        case field::node::attributes:
          node.attributes.push_back(attribute(message.get_message()));
          break;
        default:
          message.skip();
      }
    });
    if (node.domain == "ai.onnx") node.domain.clear();
    return node;
  }

  OnnxAttribute attribute(pbf_reader message) {
    OnnxAttribute attribute;
    each(message, [&](std::uint32_t tag, Wire wire) {
      if (tag == field::attribute::name) {
        attribute.name = text(message, wire);
      } else if (tag == field::attribute::text) {
        attribute.text = text(message, wire);
      } else if (tag == field::attribute::number && wire == Wire::fixed32) {
        attribute.number = message.get_float();
      } else if (tag == field::attribute::integer && wire == Wire::varint) {
        attribute.integer = message.get_int64();
      } else if (tag == field::attribute::tensor && wire == Wire::length_delimited) {
        attribute.tensor = tensor(message.get_message());
      } else if (tag == field::attribute::numbers) {
        append<float>(message, wire, attribute.numbers);
      } else if (tag == field::attribute::integers) {
        append<std::int64_t>(message, wire, attribute.integers);
      } else {
        message.skip();
      }
    });
    return attribute;
  }

  OnnxTensor tensor(pbf_reader message) {
    OnnxTensor tensor;
    StoredTensor stored;
    each(message, [&](std::uint32_t tag, Wire wire) {
      if (tag == field::tensor::dimensions) {
        append<std::int64_t>(message, wire, tensor.dimensions);
      } else if (tag == field::tensor::type && wire == Wire::varint) {
        stored.type = message.get_int64();
      } else if (tag == field::tensor::name) {
        tensor.name = text(message, wire);
      } else if (tag == field::tensor::floats) {
        append<float>(message, wire, tensor.floats);
      } else if (tag == field::tensor::doubles) {
        append<double>(message, wire, tensor.floats);
      } else if (tag == field::tensor::int32s || tag == field::tensor::int64s) {
        append<std::int64_t>(message, wire, tensor.integers);
      } else if (tag == field::tensor::raw && wire == Wire::length_delimited) {
        const auto view = message.get_view();
        stored.raw = std::string_view(view.data(), view.size());
      } else if (tag == field::tensor::external && wire == Wire::length_delimited) {
        stored.entries.insert(entry(message.get_message()));
      } else if (tag == field::tensor::location && wire == Wire::varint) {
        stored.external = message.get_int64() == 1;
      } else {
        message.skip();
      }
    });
    const std::uint64_t in_fields = tensor.floats.size() + tensor.integers.size();
    complete(tensor, stored, most_numbers - numbers_ + in_fields, name_, folder_);
    numbers_ += tensor.count() - in_fields;
    return tensor;
  }

  std::pair<std::string, std::string> entry(pbf_reader message) {
    std::pair<std::string, std::string> entry;
    each(message, [&](std::uint32_t tag, Wire wire) {
      (tag == field::entry::value ? entry.second : entry.first) = text(message, wire);
    });
    return entry;
  }

  OnnxInput value_info(pbf_reader message) {
    OnnxInput input;
    each(message, [&](std::uint32_t tag, Wire wire) {
      if (tag == field::value_info::name) {
        input.name = text(message, wire);
      } else if (tag == field::value_info::type && wire == Wire::length_delimited) {
        input.dimensions = shape(message.get_message());
      } else {
        message.skip();
      }
    });
    return input;
  }

  // The dimensions in a TypeProto: of its tensor's shape.
  std::vector<std::int64_t> shape(pbf_reader type) {
    std::vector<std::int64_t> dimensions;
    while (type.next(field::type::tensor, Wire::length_delimited)) {
      pbf_reader tensor = type.get_message();
      while (tensor.next(field::type::shape, Wire::length_delimited)) {
        pbf_reader shape = tensor.get_message();
        while (shape.next(field::type::dimension, Wire::length_delimited)) {
          pbf_reader dimension = shape.get_message();
          count_field();
          std::int64_t size = -1;
          while (dimension.next(field::type::size, Wire::varint))
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
    return parser.model(pbf_reader(bytes.data(), bytes.size()));
  } catch (const protozero::exception&) {
    parser.fail("is not an ONNX network, or damaged");
  }
}

OnnxModel read_onnx(const std::string& path) {
  return parse_onnx(read_stage_bytes(path), path,
                    std::filesystem::path(path).parent_path().string());
}

}  // namespace gpufilter
