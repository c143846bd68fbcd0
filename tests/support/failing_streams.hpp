// A source that fails on the way, and a sink that runs out of space.
#pragma once

#include "codec/byte_sink.hpp"
#include "codec/byte_source.hpp"
#include "image/metadata.hpp"
#include "support/testing.hpp"

namespace gpufilter::test {

// Yields `data`, but throws std::runtime_error, which is not one of the library's own exceptions,
// from the read on that goes beyond the first `good` bytes: codecs have to pass on whatever a
// source throws.
class FailingSource final : public ByteSource {
 public:
  FailingSource(const Bytes& data, std::size_t good)
      : inner_(memory_source(data, "in")), good_(good) {}
  [[nodiscard]] const std::string& name() const override { return inner_->name(); }
  std::size_t read(std::span<std::uint8_t> buffer) override {
    if (good_ < buffer.size()) throw std::runtime_error("the disk is on fire");
    good_ -= buffer.size();
    return inner_->read(buffer);
  }
  std::span<const std::uint8_t> peek(std::size_t count) override { return inner_->peek(count); }

 private:
  std::unique_ptr<ByteSource> inner_;
  std::size_t good_;
};

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
