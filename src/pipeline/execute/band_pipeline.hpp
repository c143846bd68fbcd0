// Three steps over many bands, as a oneTBB pipeline.
#pragma once

#include <cstddef>

#include <tbb/parallel_pipeline.h>

#include "base/background.hpp"
#include "base/stop.hpp"

namespace gpufilter {

// Calls decode() for one band after the other until it returns nullptr, work(band) for several at a
// time, and take(band) in the order of decode(). At most `maximum` bands are in progress; with a
// maximum of one, all work stays on this thread. An exception in a step ends the others and
// propagates from here.
//
// The caller keeps the steps: oneTBB copies only references to them.
template <typename Band, typename Decode, typename Work, typename Take>
void run_band_pipeline(std::size_t maximum, const Decode& decode, const Work& work,
                       const Take& take) {
  while (maximum == 1) {
    check_stop();
    Band* const band = decode();
    if (band == nullptr) return;
    work(*band);
    take(*band);
  }
  happens_before(&decode);
  happens_before(&work);
  happens_before(&take);
  const std::stop_token& stop = stop_of_this_call();
  const auto first = [&decode, &stop](tbb::flow_control& control) -> Band* {
    happens_after(&decode);
    const HappensBefore order(&decode);
    const StopScope scope(stop);
    check_stop();
    Band* band = decode();
    if (band == nullptr) {
      control.stop();
    } else {
      happens_before(band);
    }
    return band;
  };
  const auto second = [&work, &stop](Band* band) {
    happens_after(&work);
    const HappensBefore order(&work);
    const StopScope scope(stop);
    happens_after(band);
    work(*band);
    happens_before(band);
    return band;
  };
  const auto third = [&decode, &take, &stop](Band* band) {
    happens_after(&take);
    const HappensBefore order(&take);
    const StopScope scope(stop);
    happens_after(band);
    take(*band);
    happens_before(&decode);  // which may use the band again
  };
  const HappensAfter decoded(&decode);
  const HappensAfter worked(&work);
  const HappensAfter taken(&take);
  tbb::parallel_pipeline(
      maximum, tbb::make_filter<void, Band*>(tbb::filter_mode::serial_in_order, first) &
                   tbb::make_filter<Band*, Band*>(tbb::filter_mode::parallel, second) &
                   tbb::make_filter<Band*, void>(tbb::filter_mode::serial_in_order, third));
}

}  // namespace gpufilter
