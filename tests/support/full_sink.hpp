// Output that runs out of room.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "codec/byte_sink.hpp"

namespace gpufilter::test {

// Accepts `room` bytes, then throws std::runtime_error, which is none of the library's own kinds:
// codecs have to pass on whatever a sink throws.
class FullSink final : public ByteSink {
 public:
  explicit FullSink(std::size_t room) : room_(room) {}
  [[nodiscard]] const std::string& name() const override { return name_; }
  void write(std::span<const std::uint8_t> bytes) override {
    if (bytes.size() > room_) throw std::runtime_error("the disk is on fire");
    room_ -= bytes.size();
  }
  void commit() override {}
  [[nodiscard]] std::uint64_t bytes_written() const override { return 0; }

 private:
  std::size_t room_;
  std::string name_ = "out.jpg";
};

}  // namespace gpufilter::test
