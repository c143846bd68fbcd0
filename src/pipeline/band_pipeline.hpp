// Three steps over many bands, as a oneTBB pipeline.
#pragma once

#include <cstddef>

#include <tbb/parallel_pipeline.h>

#include "base/handover.hpp"

namespace gpufilter {

// Calls decode() for one band after the other until it returns nullptr, work(band) for several at a
// time, and take(band) in the order of decode(). No more than `most` bands are on their way. What a
// step throws ends the others and leaves here.
//
// The steps stay with the caller: oneTBB copies only what refers to them, through memory that
// thread sanitizers cannot follow (see cmake/races.supp).
template <typename Band, typename Decode, typename Work, typename Take>
void run_band_pipeline(std::size_t most, const Decode& decode, const Work& work, const Take& take) {
  Handover begin;
  begin.give();
  const auto first = [&begin, &decode](tbb::flow_control& control) -> Band* {
    begin.take();
    Band* band = decode();
    if (band == nullptr) control.stop();
    return band;
  };
  const auto second = [&begin, &work](Band* band) {
    begin.take();
    work(*band);
    return band;
  };
  const auto third = [&begin, &take](Band* band) {
    begin.take();
    take(*band);
  };
  tbb::parallel_pipeline(
      most, tbb::make_filter<void, Band*>(tbb::filter_mode::serial_in_order, first) &
                tbb::make_filter<Band*, Band*>(tbb::filter_mode::parallel, second) &
                tbb::make_filter<Band*, void>(tbb::filter_mode::serial_in_order, third));
}

}  // namespace gpufilter
