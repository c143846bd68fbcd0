// What becomes of a JPEG, by one thread and by several.
#pragma once

#include <cstddef>
#include <string>

#include <gtest/gtest.h>

#include "base/log.hpp"
#include "support/jpeg.hpp"

namespace gpufilter::test {

// Samples or a refusal, and what was logged meanwhile.
struct JpegOutcome {
  Bytes samples;
  std::string refusal;
  std::string log;
  friend bool operator==(const JpegOutcome&, const JpegOutcome&) = default;
};

// While it lives, what libjpeg says of harmless damage is logged as well.
class DetailedLog {
 public:
  DetailedLog() { log::set_level(log::Level::debug); }
  ~DetailedLog() { log::set_level(before_); }
  DetailedLog(const DetailedLog&) = delete;
  DetailedLog& operator=(const DetailedLog&) = delete;

 private:
  log::Level before_ = log::level();
};

inline const ReadLimits outcome_limits{.max_pixels = 4'000'000};

[[nodiscard]] JpegOutcome decode_by_threads(const Bytes& jpeg, std::size_t threads,
                                            const ReadLimits& limits = outcome_limits);

// Whether two and three threads agree with one.
[[nodiscard]] ::testing::AssertionResult threads_agree(const Bytes& jpeg,
                                                       const ReadLimits& limits = outcome_limits);

// `jpeg` with `inserted` at a place, and without the bytes from `begin` to `end`.
[[nodiscard]] Bytes with_bytes(const Bytes& jpeg, std::size_t at, const Bytes& inserted);
[[nodiscard]] Bytes without_bytes(const Bytes& jpeg, std::size_t begin, std::size_t end);

}  // namespace gpufilter::test
