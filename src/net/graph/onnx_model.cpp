#include "net/graph/onnx_model.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <protozero/pbf_reader.hpp>

#include "base/error.hpp"
#include "base/format.hpp"
#include "net/graph/onnx_tensor.hpp"
#include "stage/options/limited_file.hpp"

namespace gpufilter {
namespace {

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
