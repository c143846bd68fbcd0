// The memory of Python objects: of everything with the buffer protocol or __array_interface__.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <pybind11/pybind11.h>

namespace gpufilter::python {

// Numbers in memory, as Python describes them.
struct Layout {
  std::byte* data = nullptr;  // the first number
  std::string type;           // by NumPy's names: "uint8", "float32", "big-endian uint16"
  std::size_t size = 0;       // bytes of a number
  bool is_read_only = false;
  std::vector<pybind11::ssize_t> shape;
  std::vector<pybind11::ssize_t> strides;  // bytes, for each dimension; may be negative
};

// "(480, 640, 3)"
[[nodiscard]] std::string shape_text(const std::vector<pybind11::ssize_t>& shape);

// A buffer of the buffer protocol, or none. The GIL has to be held by the destructor.
struct HeldBuffer : Py_buffer {
  HeldBuffer() : Py_buffer{} {}
  ~HeldBuffer() { PyBuffer_Release(this); }
  HeldBuffer(const HeldBuffer&) = delete;
  HeldBuffer& operator=(const HeldBuffer&) = delete;
};

// Pins an object's memory. The GIL has to be held, also by the destructor.
class Memory {
 public:
  // Throws TypeError if the object has no readable memory, ValueError if it claims more than it
  // has.
  explicit Memory(pybind11::handle object);

  [[nodiscard]] const Layout& layout() const { return layout_; }

 private:
  void read_buffer(pybind11::handle object);
  void read_interface(const pybind11::dict& interface, pybind11::handle object);

  HeldBuffer buffer_;
  pybind11::object owner_;  // of what an interface points to
  Layout layout_;
};

// The bytes of bytes(memoryview(object)), copied only if there are gaps. The GIL has to be held,
// also by the destructor.
class PackedBytes {
 public:
  // Throws TypeError if the object has no buffer.
  explicit PackedBytes(pybind11::handle object);

  [[nodiscard]] const void* data() const { return copy_.empty() ? buffer_.buf : copy_.data(); }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(buffer_.len); }
  [[nodiscard]] std::span<const std::uint8_t> bytes() const {
    return {static_cast<const std::uint8_t*>(data()), size()};
  }

 private:
  HeldBuffer buffer_;
  std::vector<std::byte> copy_;
};

}  // namespace gpufilter::python
