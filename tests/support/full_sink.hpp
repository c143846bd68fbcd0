// A sink that runs out of space.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "codec/byte_sink.hpp"

namespace gpufilter::test {

// Accepts `room` bytes; from then on every write throws std::runtime_error, which is not one of the
// library's own exceptions: codecs have to pass on whatever a sink throws.
class FullSink final : public ByteSink {
 public:
  explicit FullSink(std::uint64_t room) : room_(room) {}
  [[nodiscard]] const std::string& name() const override { return name_; }
  void write(std::span<const std::uint8_t> bytes) override {
    written_ += bytes.size();
    if (written_ > room_) throw std::runtime_error("the disk is on fire");
  }
  void commit() override {}
  [[nodiscard]] std::uint64_t bytes_written() const override { return written_; }

 private:
  std::uint64_t room_;
  std::uint64_t written_ = 0;
  std::string name_ = "out";
};

}  // namespace gpufilter::test
