#include "lab/verify/verifier.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/threads.hpp"
#include "codec/codec_table.hpp"
#include "compare/difference_picture.hpp"
#include "compute/jpeg_decoder.hpp"
#include "compute/jpeg_encoder.hpp"
#include "host/instruction_set.hpp"
#include "lab/forced_tuning.hpp"
#include "lab/stage_samples.hpp"
#include "pipeline/execute/host_check.hpp"
#include "pipeline/run/memory_picture.hpp"

namespace gpufilter::lab {
namespace {

// A format that devices code, with options.
struct CheckedCoding {
  std::string text;  // as on the command line
  const Codec* codec = nullptr;
  WriteOptions options;
};

using Bytes = std::vector<std::uint8_t>;

PictureHeader header_of(const Image& picture) {
  PictureHeader header;
  header.size = picture.size();
  header.format = picture.format();
  return header;
}

template <typename Write>
Bytes file_of(const Image& picture, const CheckedCoding& coding, const Write& write) {
  Bytes file;
  const auto sink = memory_sink(file, "a picture");
  const auto writer = create_picture(*coding.codec, *sink, header_of(picture), coding.options);
  write(*writer);
  writer->finish({});
  return file;
}

Bytes file_coded_by(Session& session, const Image& picture, const CheckedCoding& coding) {
  const JpegCoding wanted = coding.codec->coding(header_of(picture), coding.options).value();
  const int height = picture.size().height;
  // More than noise takes.
  const std::uint64_t enough =
      8 * JpegEncoder::suitable_bytes(wanted, height) + (std::uint64_t{64} << 10U);
  JpegEncoder encoder(session, wanted, height, enough);
  Queue queue = session.make_queue();
  const Buffer rows = session.allocate(picture.bytes() + row_slack);
  queue.upload(rows, picture.rows().data, picture.bytes());
  JpegEncoder::Commands commands;
  const auto coded = encoder.encode(queue, {&rows, {0, height}}, commands);
  if (!coded) return {};
  return file_of(picture, coding, [&](RowWriter& writer) { writer.write_coded(*coded); });
}

// Nothing if the device leaves the file to the processor.
std::optional<Image> picture_decoded_by(Session& session, RowReader& reader) {
  const auto scan = reader.jpeg_scan();
  if (!scan) return std::nullopt;
  Bytes bytes(scan->max_bytes);
  bytes.resize(scan->read(bytes));
  const auto note = [](JpegStep, const Event&) {};
  Queue queue = session.make_queue();
  JpegData data(session, *scan);
  if (!data.load(queue, bytes, note)) return std::nullopt;
  Image picture(reader.header().size, reader.header().format);
  const int height = picture.size().height;
  const JpegRows rows(session, data, height);
  const Buffer buffer = session.allocate(picture.bytes() + row_slack);
  rows.enqueue(queue, {&buffer, {0, height}}, note);
  queue.download(buffer, picture.rows().data, picture.bytes());
  queue.finish();
  return picture;
}

// How the picture that `session` decodes from a file differs from the processor's.
std::optional<std::string> decoding_difference(Session& session, const Bytes& file) {
  const auto reader = open_picture(memory_source(file, "a picture"));
  const auto found = picture_decoded_by(session, *reader);
  if (!found) return "not decoded";
  Image expected(reader->header().size, reader->header().format);
  reader->read(expected.rows());
  const std::size_t bytes = expected.rows().row_bytes();
  for (int y = 0; y < expected.size().height; ++y) {
    if (std::memcmp(expected.rows().row(y), std::as_const(*found).rows().row(y), bytes) != 0)
      return formatted("row {}, when decoded", y);
  }
  return std::nullopt;
}

// For pictures of this format; none if the formats of files that devices code do not hold it.
std::vector<CheckedCoding> checked_codings(const PixelFormat& format, bool quick) {
  std::vector<CheckedCoding> codings;
  if (format.has_alpha() || format.is_float()) return codings;
  for (const Codec* codec : codecs()) {
    if (codec->coding == nullptr) continue;
    const auto option = std::find_if(codec->options.begin(), codec->options.end(),
                                     [](const auto* each) { return each->name == "subsampling"; });
    for (const char* subsampling : {"420", "444", "422"}) {
      CheckedCoding coding{
          formatted("--to {} --subsampling {}", codec->extensions.front().substr(1), subsampling),
          codec,
          {}};
      coding.options.set(**option, subsampling);
      codings.push_back(std::move(coding));
      if (quick || format.channels == 1) break;
    }
  }
  return codings;
}

// How the file that `session` codes differs from the processor's, or the picture that it decodes
// from it; nothing if they are equal. Throws DeviceError.
std::optional<std::string> coding_difference(Session& session, const Image& picture,
                                             const CheckedCoding& coding) {
  const Bytes expected =
      file_of(picture, coding, [&](RowWriter& writer) { writer.write(picture.rows()); });
  const Bytes found = file_coded_by(session, picture, coding);
  if (found == expected) return decoding_difference(session, expected);
  const auto [at, other] =
      std::mismatch(expected.begin(), expected.end(), found.begin(), found.end());
  return formatted("byte {} of the file", at - expected.begin());
}

// A device or an instruction set that runs cases.
struct Place {
  std::string name;
  InstructionSet set = InstructionSet::baseline;
  std::shared_ptr<Session> session = nullptr;  // none: the processor, by `set`
};

// A chain on pictures of one format, in every size, in one place or in all places of the processor.
struct Job {
  VerifyChain chain;
  PixelFormat format;
  std::size_t number;  // in the order of the report
  // Replaces stages: devices code the picture, and the processor does so for comparison.
  std::optional<CheckedCoding> coding = std::nullopt;
};

// A picture, the stages applied to it and the expected result.
struct Case {
  const VerifyChain& chain;
  const Image& picture;
  const Image& expected;
  int band_rows;
  std::size_t number;  // of its job
};

// While one thread compiles, which drivers do one at a time, others run compiled programs. PoCL's
// kernels take all cores by themselves.
std::size_t threads_for(const DeviceInfo& device, const VerifyPart& part) {
  constexpr std::size_t enough = 8;
  if (device.kind == DeviceKind::cpu) return 1;
  return std::clamp<std::size_t>(allowed_threads() / part.count, 1, enough);
}

// PoCL compiles a program a second time when it is kept, so the many programs of a full check are
// not worth keeping.
bool keeps_programs(const Session& session, bool quick) {
  return quick || session.device().kind != DeviceKind::cpu;
}

class Verification {
 public:
  explicit Verification(const VerifyOptions& options)
      : options_(options), sizes_(verify_sizes(options.quick)) {
    for (const InstructionSet set : available_instruction_sets())
      places_.push_back({formatted("processor {}", to_string(set)), set});
    for (const auto& session : options.devices)
      places_.push_back({session->device().name, InstructionSet::baseline, session});
    // A quick run uses the tuned kernels.
    for (const auto& session : options.devices) {
      if (!options.quick) session->set_tuning(candidates_);
    }
    add_jobs();
  }

  VerifyReport run() {
    // The instruction set is one for the whole process, so the processor comes first, and alone.
    const auto processor_ends =
        std::find_if(places_.begin(), places_.end(),
                     [](const Place& place) { return place.session != nullptr; });
    for (const Job& job : jobs_)
      check(job, {places_.begin(), processor_ends});
    for (auto place = processor_ends; place != places_.end(); ++place)
      check_on_threads({place, place + 1});
    std::stable_sort(report_.variants.begin(), report_.variants.end(),
                     [this](const auto& a, const auto& b) {
                       return std::pair(place_index(a.place), a.first_job) <
                              std::pair(place_index(b.place), b.first_job);
                     });
    return std::move(report_);
  }

 private:
  void add_jobs() {
    std::size_t turn = 0;
    for (const PixelFormat& format : formats_to_check()) {
      for (const VerifyChain& chain : verify_samples(options_.stages, options_.quick, turn))
        add_job(chain, format, turn);
      if (!options_.quick) {
        for (const VerifyChain& chain : verify_pairs(options_.stages, turn))
          add_job(chain, format, turn);
      }
      if (options_.stages.empty()) {
        for (const CheckedCoding& coding : checked_codings(format, options_.quick))
          add_job({coding.text, {}}, format, turn, coding);
      }
      ++turn;
    }
  }

  // Neighbouring jobs, which take similar times, belong to different parts, and so do the formats
  // of one chain.
  void add_job(const VerifyChain& chain, const PixelFormat& format, std::size_t turn,
               const std::optional<CheckedCoding>& coding = std::nullopt) {
    const std::size_t number = next_job_++;
    if ((number + turn) % options_.part.count == options_.part.index)
      jobs_.push_back({chain, format, number, coding});
  }

  // Runs all jobs, with as many threads as suit the single device of `places`.
  void check_on_threads(std::span<const Place> places) {
    std::atomic<std::size_t> next = 0;
    std::exception_ptr failure;
    const auto work = [&](std::size_t /*thread*/) {
      try {
        for (std::size_t i = next++; i < jobs_.size(); i = next++) {
          check(jobs_[i], places);
          // After an interruption, the next run need not compile everything again.
          if (i % 16 == 0 && keeps_programs(*places.front().session, options_.quick))
            places.front().session->keep_programs();
        }
      } catch (...) {
        const std::lock_guard lock(mutex_);
        failure = std::current_exception();
        next = jobs_.size();
      }
    };
    {
      const auto threads =
          start_threads(threads_for(places.front().session->device(), options_.part), work);
      if (threads.empty()) work(0);
    }
    if (failure) std::rethrow_exception(failure);
    Session& session = *places.front().session;
    if (keeps_programs(session, options_.quick)) session.keep_programs();
  }

  [[nodiscard]] std::vector<PixelFormat> formats_to_check() const {
    const bool chosen = options_.channels || options_.depth;
    std::vector<PixelFormat> formats = verify_formats(options_.quick && !chosen);
    for (int channels = 1; channels <= 4 && !options_.quick; ++channels)
      formats.push_back({channels, float_depth});
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

  bool is_decided() {
    if (!options_.stop_at_difference) return false;
    const std::lock_guard lock(mutex_);
    return report_.first_failure.has_value();
  }

  void check(const Job& job, std::span<const Place> places) {
    for (const ImageSize& size : sizes_)
      check(job, verify_picture({size, job.format}), places);
    if (!options_.on_progress) return;
    const std::lock_guard lock(mutex_);
    const std::size_t all = jobs_.size() * (1 + options_.devices.size());
    options_.on_progress(static_cast<std::int64_t>(++jobs_done_), static_cast<std::int64_t>(all));
  }

  void check(const Job& job, const Image& picture, std::span<const Place> places) {
    if (job.coding) {
      for (const Place& place : places) {
        if (place.session) check_coding(place, job, picture);
      }
      return;
    }
    Image expected;
    try {
      expected = filter_by_baseline(picture, job.chain.chain);
    } catch (const UsageError&) {
      return;  // the stage does not take this format, on any device
    }
    for (const Place& place : places) {
      const auto set = place.session ? nullptr : std::make_unique<InstructionSetInUse>(place.set);
      static_cast<void>(candidates_->take_sites());
      for (const int rows : verify_bands(expected.size().height, options_.quick))
        check_in(place, {job.chain, picture, expected, rows, job.number});
      if (job.chain.every_candidate) check_candidates(place, job, picture, expected);
    }
  }

  void check_coding(const Place& place, const Job& job, const Image& picture) {
    if (is_decided()) return;
    const Case work{job.chain, picture, picture, picture.size().height, job.number};
    std::optional<std::string> difference;
    bool failed = false;
    try {
      difference = coding_difference(*place.session, picture, *job.coding);
    } catch (const DeviceError& error) {
      difference = error.what();
      failed = true;
    }
    const std::lock_guard lock(mutex_);
    VerifiedVariant& variant = variant_of(place, work, job.coding->codec->name);
    variant.cases += failed ? 0 : 1;
    report_.cases += failed ? 0 : 1;
    if (!difference) return;
    ++(failed ? variant.failed : variant.different);
    keep_first(place, work, variant.variant, *difference, nullptr);
  }

  // Every candidate that `gpufilter tune` may choose later.
  void check_candidates(const Place& place, const Job& job, const Image& picture,
                        const Image& expected) {
    for (const auto& [key, site] : candidates_->take_sites()) {
      for (std::size_t i = 1; i < site.candidates.size(); ++i) {
        candidates_->force(key, i);
        check_in(place,
                 {job.chain, picture, expected, std::min(expected.size().height, 7), job.number});
      }
    }
    candidates_->force_none();
  }

  void check_in(const Place& place, const Case& work) {
    if (is_decided()) return;
    std::vector<PassReport> passes;
    try {
      const Image found = filtered(place, work, passes);
      const auto sample = difference(work.expected, found);
      const std::string kernel = kernel_of(place, work, passes);
      const std::lock_guard lock(mutex_);
      VerifiedVariant& variant = variant_of(place, work, kernel);
      ++variant.cases;
      ++report_.cases;
      if (sample) {
        ++variant.different;
        keep_first(place, work, kernel, *sample, &found);
      }
    } catch (const UsageError&) {
      const std::lock_guard lock(mutex_);
      ++report_.skipped;  // a tile that does not fit the device
    } catch (const DeviceError& error) {
      const std::string kernel = kernel_of(place, work, passes);
      const std::lock_guard lock(mutex_);
      ++variant_of(place, work, kernel).failed;
      keep_first(place, work, kernel, error.what(), nullptr);
    }
  }

  static Image filtered(const Place& place, const Case& work, std::vector<PassReport>& passes) {
    Timeline timeline;
    PlanLimits limits{.band_rows = work.band_rows};
    if (place.session) limits.device = &place.session->device();
    return filter_in_memory(work.picture, work.chain.chain, limits, [&](const Plan& plan) {
      auto executor = place.session ? make_device_executor(plan, *place.session, timeline)
                                    : make_host_executor(plan, &timeline);
      passes.insert(passes.end(), executor->passes().begin(), executor->passes().end());
      return executor;
    });
  }

  static bool is_comparable(const Image& expected, const Image& found) {
    return found.size() == expected.size() && found.format() == expected.format();
  }

  static std::optional<std::string> difference(const Image& expected, const Image& found) {
    if (!is_comparable(expected, found)) return "different size or format";
    const auto sample = first_difference(expected.rows(), found.rows());
    if (!sample) return std::nullopt;
    return to_string(*sample, expected.format());
  }

  // The full name of the kernel, for one stage on a device. A processor's loop is named after its
  // instruction set, which the place already names.
  static std::string kernel_of(const Place& place, const Case& work,
                               const std::vector<PassReport>& passes) {
    if (!place.session || work.chain.chain.size() != 1 || passes.empty()) return {};
    return passes.back().variant;
  }

  // Only the text before the comma: numbers follow it, such as bounds of tables and group shapes.
  VerifiedVariant& variant_of(const Place& place, const Case& work, const std::string& kernel) {
    std::string stage = work.chain.chain.empty() ? "encode, decode" : "";
    for (const auto& asked : work.chain.chain)
      stage += (stage.empty() ? "" : ", ") + asked->name();
    const std::string variant = kernel.substr(0, kernel.find(','));
    return variant_in(report_.variants, {place.name, stage, variant, work.number});
  }

  // `found` is nullptr if there is no result.
  void keep_first(const Place& place, const Case& work, const std::string& variant,
                  std::string difference, const Image* found) {
    const std::pair order(place_index(place.name), work.number);
    if (report_.first_failure && first_failure_ <= order) return;
    first_failure_ = order;
    report_.first_failure = VerifyFailure{place.name,
                                          work.chain.text,
                                          variant,
                                          work.number,
                                          {work.picture.size(), work.picture.format()},
                                          work.band_rows,
                                          std::move(difference)};
    if (found != nullptr && is_comparable(work.expected, *found)) {
      report_.first_failure->drawing =
          std::make_shared<const Image>(difference_drawing(work.expected, *found));
    }
  }

  const VerifyOptions& options_;
  std::shared_ptr<ForcedTuning> candidates_ = std::make_shared<ForcedTuning>();
  std::vector<Place> places_;
  std::vector<ImageSize> sizes_;
  std::vector<Job> jobs_;
  std::size_t next_job_ = 0;  // its number, those of other parts counted
  std::mutex mutex_;          // guards the members below
  std::size_t jobs_done_ = 0;
  std::pair<std::size_t, std::size_t> first_failure_;  // place and job
  VerifyReport report_;
};

}  // namespace

VerifiedVariant& variant_in(std::vector<VerifiedVariant>& all, const VerifiedVariant& wanted) {
  const auto known = std::find_if(all.begin(), all.end(), [&](const VerifiedVariant& candidate) {
    return candidate.place == wanted.place && candidate.stage == wanted.stage &&
           candidate.variant == wanted.variant;
  });
  if (known == all.end())
    return all.emplace_back(
        VerifiedVariant{wanted.place, wanted.stage, wanted.variant, wanted.first_job});
  known->first_job = std::min(known->first_job, wanted.first_job);
  return *known;
}

VerifyReport verify(const VerifyOptions& options) {
  return Verification(options).run();
}

namespace {

constexpr int drawn_side = 800;

}  // namespace

Image difference_drawing(const Image& expected, const Image& found) {
  const ImageSize size = expected.size();
  Image differences(size, difference_format);
  draw_difference(expected.rows(), found.rows(), 0, differences.rows());
  const int square = std::max(1, drawn_side / std::max(size.width, size.height));
  Image drawing({size.width * square, size.height * square}, difference_format);
  const std::size_t pixel = difference_format.bytes_per_pixel();
  for (int y = 0; y < drawing.size().height; ++y) {
    const std::uint8_t* from = differences.rows().row(y / square);
    std::uint8_t* to = drawing.rows().row(y);
    for (int x = 0; x < drawing.size().width; ++x)
      std::memcpy(to + static_cast<std::size_t>(x) * pixel,
                  from + static_cast<std::size_t>(x / square) * pixel, pixel);
  }
  return drawing;
}

void write_drawing(const Image& drawing, ByteSink& sink) {
  PictureHeader header;
  header.size = drawing.size();
  header.format = drawing.format();
  const auto writer = create_picture(codec_for_output("differences.png"), sink, header);
  writer->write(drawing.rows());
  writer->finish({});
  sink.commit();
}

}  // namespace gpufilter::lab
