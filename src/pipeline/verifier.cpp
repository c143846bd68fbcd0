#include "pipeline/verifier.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/format.hpp"
#include "host/instruction_set.hpp"
#include "pipeline/forced_tuning.hpp"
#include "pipeline/host_check.hpp"
#include "pipeline/memory_picture.hpp"
#include "pipeline/verify_cases.hpp"

namespace gpufilter {
namespace {

// Where cases are run.
struct Place {
  std::string name;
  InstructionSet set = InstructionSet::baseline;
  std::shared_ptr<Session> session = nullptr;  // none: the processor, by `set`
};

// A picture, the stages applied to it and the expected result.
struct Case {
  const VerifyChain& chain;
  const Image& picture;
  const Image& expected;
  int band_rows;
};

class Verification {
 public:
  explicit Verification(const VerifyOptions& options) : options_(options) {
    for (const InstructionSet set : available_instruction_sets())
      places_.push_back({formatted("processor {}", to_string(set)), set});
    for (const auto& session : options.devices)
      places_.push_back({session->device().name, InstructionSet::baseline, session});
    // A quick run uses the tuned kernels.
    for (const auto& session : options.devices) {
      if (!options.quick) session->set_tuning(candidates_);
    }
  }

  VerifyReport run() {
    const std::vector<VerifyChain> chains = verify_chains(options_.stages, options_.quick);
    const std::vector<PixelFormat> formats = formats_to_check();
    const std::vector<ImageSize> sizes = verify_sizes(options_.quick);
    const std::size_t all = chains.size() * formats.size() * sizes.size();
    std::size_t done = 0;
    for (const PixelFormat& format : formats) {
      for (const ImageSize& size : sizes) {
        const Image picture = verify_picture({size, format});
        for (const VerifyChain& chain : chains) {
          check(chain, picture);
          if (options_.on_progress) {
            options_.on_progress(static_cast<std::int64_t>(++done), static_cast<std::int64_t>(all));
          }
        }
      }
    }
    std::stable_sort(report_.variants.begin(), report_.variants.end(),
                     [this](const auto& a, const auto& b) {
                       return place_index(a.place) < place_index(b.place);
                     });
    return std::move(report_);
  }

 private:
  [[nodiscard]] std::vector<PixelFormat> formats_to_check() const {
    const bool chosen = options_.channels || options_.depth;
    std::vector<PixelFormat> formats = verify_formats(options_.quick && !chosen);
    const auto unwanted = [this](const PixelFormat& format) {
      return options_.channels.value_or(format.channels) != format.channels ||
             options_.depth.value_or(format.depth) != format.depth;
    };
    formats.erase(std::remove_if(formats.begin(), formats.end(), unwanted), formats.end());
    return formats;
  }

  [[nodiscard]] std::size_t place_index(const std::string& name) const {
    const auto found = std::find_if(places_.begin(), places_.end(),
                                    [&](const Place& place) { return place.name == name; });
    return static_cast<std::size_t>(found - places_.begin());
  }

  void check(const VerifyChain& chain, const Image& picture) {
    Image expected;
    try {
      expected = filter_by_baseline(picture, chain.chain);
    } catch (const UsageError&) {
      return;  // the stage does not take this format, on any device
    }
    for (const Place& place : places_) {
      static_cast<void>(candidates_->take_sites());
      for (const int rows : verify_bands(expected.size().height, options_.quick))
        check_in(place, {chain, picture, expected, rows});
      if (chain.every_candidate) check_candidates(place, chain, picture, expected);
    }
  }

  // Everything that `gpufilter tune` may choose later.
  void check_candidates(const Place& place, const VerifyChain& chain, const Image& picture,
                        const Image& expected) {
    for (const auto& [key, site] : candidates_->take_sites()) {
      for (std::size_t i = 1; i < site.candidates.size(); ++i) {
        candidates_->force(key, i);
        check_in(place, {chain, picture, expected, std::min(expected.size().height, 7)});
      }
    }
    candidates_->force_none();
  }

  void check_in(const Place& place, const Case& work) {
    const InstructionSetInUse set(place.set);
    std::vector<PassReport> passes;
    try {
      const Image found = filtered(place, work, passes);
      const std::string kernel = kernel_of(place, work, passes);
      VerifiedVariant& variant = variant_of(place, work, kernel);
      ++variant.cases;
      ++report_.cases;
      if (const auto sample = difference(work.expected, found)) {
        ++variant.different;
        keep_first(place, work, kernel, *sample);
      }
    } catch (const UsageError&) {
      ++report_.skipped;  // a tile that does not fit the device
    } catch (const DeviceError& error) {
      const std::string kernel = kernel_of(place, work, passes);
      ++variant_of(place, work, kernel).failed;
      keep_first(place, work, kernel, error.what());
    }
  }

  static Image filtered(const Place& place, const Case& work, std::vector<PassReport>& passes) {
    Timeline timeline;
    return filter_in_memory(work.picture, work.chain.chain, work.band_rows, [&](const Plan& plan) {
      auto executor = place.session ? make_device_executor(plan, *place.session, timeline)
                                    : make_host_executor(plan, timeline);
      passes.insert(passes.end(), executor->passes().begin(), executor->passes().end());
      return executor;
    });
  }

  static std::optional<std::string> difference(const Image& expected, const Image& found) {
    if (found.size() != expected.size() || found.format() != expected.format())
      return "different size or format";
    const auto sample = first_difference(expected.rows(), found.rows());
    if (!sample) return std::nullopt;
    return to_string(*sample, expected.format());
  }

  // The full name of the kernel, for one stage on a device. A processor's loop is named after its
  // instruction set, which is already the place.
  static std::string kernel_of(const Place& place, const Case& work,
                               const std::vector<PassReport>& passes) {
    if (!place.session || work.chain.chain.size() != 1 || passes.empty()) return {};
    return passes.back().variant;
  }

  // By the text before the comma, since numbers follow it: bounds of tables, shapes of groups.
  VerifiedVariant& variant_of(const Place& place, const Case& work, const std::string& kernel) {
    std::string stage;
    for (const auto& asked : work.chain.chain)
      stage += (stage.empty() ? "" : ", ") + asked->name();
    const std::string variant = kernel.substr(0, kernel.find(','));
    const auto found = std::find_if(
        report_.variants.begin(), report_.variants.end(), [&](const VerifiedVariant& known) {
          return known.place == place.name && known.stage == stage && known.variant == variant;
        });
    if (found != report_.variants.end()) return *found;
    return report_.variants.emplace_back(VerifiedVariant{place.name, stage, variant});
  }

  void keep_first(const Place& place, const Case& work, const std::string& variant,
                  std::string difference) {
    if (report_.first_failure) return;
    report_.first_failure = VerifyFailure{
        place.name,     work.chain.text,      variant, {work.picture.size(), work.picture.format()},
        work.band_rows, std::move(difference)};
  }

  const VerifyOptions& options_;
  std::shared_ptr<ForcedTuning> candidates_ = std::make_shared<ForcedTuning>();
  std::vector<Place> places_;
  VerifyReport report_;
};

}  // namespace

VerifyReport verify(const VerifyOptions& options) {
  return Verification(options).run();
}

}  // namespace gpufilter
