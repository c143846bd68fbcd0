#include "support/jpeg_outcomes.hpp"

#include "base/error.hpp"
#include "base/threads.hpp"

namespace gpufilter::test {
namespace {

std::string described(const JpegOutcome& outcome) {
  return (outcome.refusal.empty() ? "accepted" : outcome.refusal) + " [" + outcome.log + "]";
}

}  // namespace

JpegOutcome decode_by_threads(const Bytes& jpeg, std::size_t threads, const ReadLimits& limits) {
  const ThreadLimit limit(threads);
  JpegOutcome outcome;
  ::testing::internal::CaptureStderr();
  try {
    outcome.samples = decode_with_codec(jpeg, limits).samples;
  } catch (const PictureError& error) {
    outcome.refusal = error.what();
  }
  outcome.log = ::testing::internal::GetCapturedStderr();
  return outcome;
}

::testing::AssertionResult threads_agree(const Bytes& jpeg, const ReadLimits& limits) {
  const JpegOutcome expected = decode_by_threads(jpeg, 1, limits);
  for (const std::size_t threads : {2U, 3U}) {
    const JpegOutcome outcome = decode_by_threads(jpeg, threads, limits);
    if (outcome == expected) continue;
    return ::testing::AssertionFailure()
           << threads << " threads: " << described(outcome) << ", one: " << described(expected);
  }
  return ::testing::AssertionSuccess();
}

Bytes with_bytes(const Bytes& jpeg, std::size_t at, const Bytes& inserted) {
  Bytes changed = jpeg;
  changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(at), inserted.begin(),
                 inserted.end());
  return changed;
}

Bytes without_bytes(const Bytes& jpeg, std::size_t begin, std::size_t end) {
  Bytes changed = jpeg;
  changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(begin),
                changed.begin() + static_cast<std::ptrdiff_t>(end));
  return changed;
}

}  // namespace gpufilter::test
