#include "api/filter_state.hpp"

#include <utility>

#include <unistd.h>

#include "base/error.hpp"
#include "base/words.hpp"
#include "pipeline/choose/make_dispatcher.hpp"
#include "pipeline/run/upright.hpp"

namespace gpufilter {

namespace {

StageChain with_upright_stage(StageChain chain, const std::string& orientation) {
  std::vector<std::string> words;
  for (const auto& [word, rule] : orientation_rules()) {
    words.push_back(word);
    if (word != orientation) continue;
    std::vector<ChainOutput> none;
    add_upright_stage(chain, rule, none);
    return chain;
  }
  throw UsageError("orientation: " + not_among(orientation, words));
}

}  // namespace

PictureFilter::State::State(StageChain chain, FilterSettings settings)
    : chain_(with_upright_stage(std::move(chain), settings.orientation)),
      settings_(std::move(settings)),
      process_(::getpid()),
      work_(make_work(settings_.device, settings_.require_device)) {}

// The threads that the parent's objects would wait for do not exist in a forked process.
PictureFilter::State::~State() {
  if (::getpid() == process_) return;
  static_cast<void>(work_.memory.release());
  static_cast<void>(work_.dispatcher.release());
}

PictureFilter::State::Work PictureFilter::State::make_work(const std::string& device,
                                                           bool require_device) const {
  Work work;
  work.dispatcher = make_dispatcher(device, require_device, chain_, default_engine_options());
  work.memory = std::make_unique<MemoryFilter>(chain_, *work.dispatcher);
  return work;
}

PictureFilter::State::Work& PictureFilter::State::work() {
  if (::getpid() == process_) return work_;
  if (settings_.require_device) {
    throw DeviceError(
        "a device does not survive a fork; make the filter in the process that uses it");
  }
  std::call_once(forked_, [this] { work_after_fork_ = make_work("cpu", false); });
  return work_after_fork_;
}

}  // namespace gpufilter
