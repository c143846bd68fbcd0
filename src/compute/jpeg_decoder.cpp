#include "compute/jpeg_decoder.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/numbers.hpp"
#include "image/jpeg_coding.hpp"

namespace gpufilter {
namespace {

// The constants of kernels/compute/jpeg_entropy.cl.
constexpr std::uint64_t subsequence_bytes = 128;
constexpr std::int32_t chunk_bytes = 64;
constexpr std::size_t group_items = 256;
constexpr std::size_t decoders = 64;  // of a group in which each item decodes
constexpr std::int32_t max_rounds = 16;
constexpr std::size_t read_ahead_bytes = 32;
constexpr std::size_t sum_bytes = 16;

// Rounds that are queued before the host looks whether they were enough, as almost always. Pictures
// with large areas of one colour may need one for every few subsequences.
constexpr std::int32_t rounds_at_a_time = 4;

Kernel entropy_kernel(Session& session, const std::string& function) {
  return session.make_kernel({"jpeg_entropy.cl", function});
}

Kernel sample_kernel(Session& session, const std::string& function) {
  return session.make_kernel({"jpeg_samples.cl", function});
}

WorkRange items(std::int64_t count, std::size_t a_group = group_items) {
  return {static_cast<std::size_t>(std::max<std::int64_t>(count, 1)), 1, a_group, 1};
}

// Elements of all levels of sums over `count` elements.
std::size_t elements_of_sums(std::int32_t count) {
  auto elements = static_cast<std::size_t>(count);
  while (count > 1) {
    count = divided_up(count, group_items);
    elements += static_cast<std::size_t>(count);
  }
  return elements;
}

std::uint64_t max_subsequences(std::uint64_t bytes, std::uint64_t segments) {
  return bytes / subsequence_bytes + segments;
}

std::uint64_t segments_of(const JpegScan& scan) {
  const std::uint64_t mcus = scan.mcus().pixels();
  return scan.restart_interval == 0 ? 1
                                    : (mcus + scan.restart_interval - 1) / scan.restart_interval;
}

// The rows of MCUs whose samples the rows of a picture depend on.
RowRange mcu_rows_of(const JpegScan& scan, const RowRange& rows) {
  const int neighbours = scan.vertical == 1 ? 0 : 1;  // rows of chroma, for the upsampling
  const int first = std::max(rows.begin / scan.vertical - neighbours, 0) / 8;
  const int last = ((rows.end - 1) / scan.vertical + neighbours) / 8;
  return {first, std::min(last + 1, scan.mcus().height)};
}

// The maximum number of such rows for bands of `rows` rows.
int max_mcu_rows(const JpegScan& scan, int rows) {
  return std::min((rows + 8 * scan.vertical - 1) / (8 * scan.vertical) + 2, scan.mcus().height);
}

std::uint64_t samples_of(const JpegScan& scan, int mcu_rows) {
  return std::uint64_t{64} * static_cast<std::uint64_t>(scan.units()) *
         ImageSize{scan.mcus().width, mcu_rows}.pixels();
}

// The tables of a JPEG in the form of kernels/compute/jpeg_entropy.cl.
// Size of the part that kernels copy to local memory, in 32-bit words.
constexpr std::int32_t jpeg_table_words = 6688;

// The constants of kernels/compute/jpeg_codes.cl.
constexpr int fast_bits = 10;
constexpr int longest_code = 16;

struct Tables {
  std::array<std::array<std::uint32_t, 1U << fast_bits>, 6> fast{};
  std::array<std::array<std::int32_t, 8>, 6> limits{};
  std::array<std::array<std::int32_t, 8>, 6> offsets{};
  std::array<std::array<std::uint8_t, 256>, 6> symbols{};
  std::array<std::array<std::uint8_t, 64>, 3> divisors{};
  std::array<std::uint8_t, 64> places = jpeg_zigzag;
};
static_assert(sizeof(Tables) == jpeg_table_words * sizeof(std::int32_t));

// The layout of CODE() in the kernels. Codes of first coefficients skip none.
std::uint32_t entry_of(int length, std::uint8_t symbol, bool is_first) {
  constexpr std::uint32_t block_ends = 64;
  const std::uint32_t size = symbol & 15U;
  const std::uint32_t run = is_first ? 0U : size == 0 && symbol < 0xF0 ? block_ends : symbol >> 4U;
  const auto bits = static_cast<std::uint32_t>(length);
  return (bits + size) | run << 8U | size << 16U | bits << 24U;
}

void add_codes(Tables& tables, std::size_t index, const JpegHuffmanTable& table) {
  tables.symbols.at(index) = table.symbols;
  std::int32_t code = 0;
  std::size_t symbol = 0;
  for (int length = 1; length <= longest_code; ++length) {
    code *= 2;
    const std::int32_t offset = static_cast<std::int32_t>(symbol) - code;
    for (int i = 0; i < table.counts.at(static_cast<std::size_t>(length)); ++i, ++code, ++symbol) {
      if (length > fast_bits) continue;
      const auto first = tables.fast.at(index).begin() + (code << (fast_bits - length));
      std::fill_n(first, 1 << (fast_bits - length),
                  entry_of(length, table.symbols.at(symbol), index % 2 == 0));
    }
    if (length <= fast_bits) continue;
    const auto place = static_cast<std::size_t>(length - fast_bits - 1);
    tables.limits.at(index).at(place) = code << (longest_code - length);
    tables.offsets.at(index).at(place) = offset;
  }
}

// The codes and divisors as tables_t there, followed by the divisors of each component row by row.
// Missing components get the divisors of the first.
std::vector<std::int32_t> jpeg_decoding_tables(const JpegScan& scan) {
  Tables tables;
  std::vector<std::int32_t> words(jpeg_table_words);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& component = scan.components[i < scan.components.size() ? i : 0];
    add_codes(tables, 2 * i, component.first);
    add_codes(tables, 2 * i + 1, component.others);
    for (std::size_t k = 0; k < jpeg_zigzag.size(); ++k)
      tables.divisors.at(i).at(k) = component.divisors.at(jpeg_zigzag.at(k));
    words.insert(words.end(), component.divisors.begin(), component.divisors.end());
  }
  std::memcpy(words.data(), &tables, sizeof(tables));
  return words;
}

}  // namespace

// The work of JpegData::load(), and the memory that only this needs.
class JpegData::Loading {
 public:
  Loading(JpegData& picture, Queue& queue, std::span<const std::uint8_t> bytes,
          const NoteJpegCommand& note)
      : picture_(picture),
        kernels_(picture.kernels_),
        session_(picture.session_),
        queue_(queue),
        bytes_(bytes),
        note_(note) {}

  bool run() {
    status_ = session_.allocate(sizeof(Status));
    copy_data();
    divide();
    begin_rounds();
    for (std::int32_t round = 0; round < max_rounds; round += rounds_at_a_time) {
      decode_rounds(round);
      note_(JpegStep::entropy, queue_.download(status_, &seen_, sizeof(Status)));
      queue_.finish();
      if (seen_.faults != 0) return false;
      if (seen_.changed[static_cast<std::size_t>(round + rounds_at_a_time - 1)] == 0) return true;
    }
    return false;
  }

 private:
  struct Status {
    std::int32_t faults = 0;
    std::array<std::int32_t, max_rounds> changed{};
  };

  void launch(const Kernel& kernel, const WorkRange& range,
              std::initializer_list<KernelArgument> arguments) {
    note_(JpegStep::entropy, queue_.launch(kernel, range, arguments));
  }
  void launch(const Kernel& kernel, std::int64_t count,
              std::initializer_list<KernelArgument> arguments) {
    launch(kernel, items(count), arguments);
  }

  // `elements` may be the same as `sums`.
  void add_up(const Buffer& elements, const Buffer& sums, std::int32_t count) {
    std::int32_t level = 0;
    do {
      launch(kernels_.add_up, count, {elements, sums, level, count});
      level += count;
      count = divided_up(count, group_items);
    } while (count > 1);
  }

  void copy_data() {
    const auto count = static_cast<std::int32_t>(bytes_.size());
    const std::int32_t chunks = divided_up(count, chunk_bytes);
    file_bytes_ = session_.allocate(bytes_.size() + sizeof(std::uint32_t));
    segments_ = session_.allocate(sizeof(std::int32_t) * (segment_count_ + std::size_t{1}));
    chunk_sums_ = session_.allocate(sum_bytes * elements_of_sums(chunks));
    picture_.data_ = session_.allocate(bytes_.size() + read_ahead_bytes);
    note_(JpegStep::upload, queue_.upload(file_bytes_, bytes_.data(), bytes_.size()));
    // The items also clear the status.
    launch(kernels_.count_bytes, std::max(chunks, max_rounds + 1),
           {file_bytes_, count, chunk_sums_, status_});
    add_up(chunk_sums_, chunk_sums_, chunks);
    launch(kernels_.copy_data, chunks,
           {file_bytes_, count, chunk_sums_, chunks, picture_.data_, segments_, segment_count_,
            status_});
  }

  // Into subsequences.
  void divide() {
    count_ = static_cast<std::int32_t>(
        max_subsequences(bytes_.size(), static_cast<std::uint64_t>(segment_count_)));
    picture_.subsequences_ = count_;
    segment_sums_ = session_.allocate(sum_bytes * elements_of_sums(segment_count_));
    picture_.ranges_ = session_.allocate(sum_bytes * static_cast<std::size_t>(count_));
    launch(kernels_.count_subsequences, segment_count_,
           {segments_, segment_count_, segment_sums_, status_});
    add_up(segment_sums_, segment_sums_, segment_count_);
    launch(kernels_.list_subsequences, count_,
           {segments_, segment_count_, segment_sums_, picture_.ranges_, count_});
  }

  void begin_rounds() {
    const std::size_t bytes = sizeof(std::int32_t) * static_cast<std::size_t>(count_);
    for (Buffer& places : places_)
      places = session_.allocate(bytes);
    picture_.first_places_ = session_.allocate(bytes);
    counts_ = session_.allocate(sum_bytes * static_cast<std::size_t>(count_));
    picture_.sums_ = session_.allocate(sum_bytes * elements_of_sums(count_));
  }

  // Queues the rounds from `first` on, and the work after the last one.
  void decode_rounds(std::int32_t first) {
    const std::int32_t luma_units = picture_.scan_.luma_units();
    const std::int32_t units = picture_.scan_.units();
    const std::int32_t end = first + rounds_at_a_time;
    for (std::int32_t round = first; round < end; ++round) {
      const auto from = static_cast<std::size_t>(round % 2);
      launch(kernels_.synchronize, items(count_, decoders),
             {picture_.data_, picture_.ranges_, count_, picture_.tables_, luma_units, units,
              picture_.first_places_, places_.at(from), places_.at(1 - from), counts_, status_,
              round});
    }
    add_up(counts_, picture_.sums_, count_);
    launch(kernels_.check_data, items(count_, decoders),
           {picture_.data_, picture_.ranges_, count_, picture_.tables_, luma_units, units,
            picture_.first_places_, picture_.sums_, segments_, picture_.segment_blocks(),
            picture_.blocks(), status_, end});
  }

  JpegData& picture_;
  const Kernels& kernels_;
  Session& session_;
  Queue& queue_;
  std::span<const std::uint8_t> bytes_;
  const NoteJpegCommand& note_;
  std::int32_t segment_count_ = picture_.segments();
  std::int32_t count_ = 0;  // of subsequences, at most
  Status seen_;
  Buffer status_;
  Buffer file_bytes_;
  Buffer segments_;
  Buffer chunk_sums_;
  Buffer segment_sums_;
  std::array<Buffer, 2> places_;  // at the ends of subsequences, before and after a round
  Buffer counts_;                 // of blocks in the subsequences
};

bool JpegData::can_index(const JpegScan& scan) {
  // Bits and blocks are numbered with 31 bits.
  constexpr std::uint64_t max_bytes = std::uint64_t{1} << 27U;
  constexpr std::uint64_t max_mcus = std::uint64_t{1} << 27U;
  return scan.max_bytes <= max_bytes && scan.mcus().pixels() <= max_mcus;
}

std::uint64_t JpegData::memory_of(const JpegScan& scan) {
  const std::uint64_t bytes = scan.max_bytes;
  const std::uint64_t segments = segments_of(scan);
  // The file's bytes and the data, the sums of chunks; for a subsequence its range, its sums twice,
  // and three positions; for a segment the same and its start.
  return 2 * bytes + bytes / chunk_bytes * sum_bytes +
         max_subsequences(bytes, segments) * (3 * sum_bytes + 12) + segments * (sum_bytes + 4);
}

JpegData::Kernels::Kernels(Session& session)
    : add_up(entropy_kernel(session, "add_up")),
      count_bytes(entropy_kernel(session, "count_bytes")),
      copy_data(entropy_kernel(session, "copy_data")),
      count_subsequences(entropy_kernel(session, "count_subsequences")),
      list_subsequences(entropy_kernel(session, "list_subsequences")),
      synchronize(entropy_kernel(session, "synchronize")),
      check_data(entropy_kernel(session, "check_data")) {}

JpegData::JpegData(Session& session, JpegScan scan)
    : session_(session), scan_(std::move(scan)), kernels_(session) {}

bool JpegData::load(Queue& queue, std::span<const std::uint8_t> bytes,
                    const NoteJpegCommand& note) {
  if (bytes.empty()) return false;
  const std::vector<std::int32_t> tables = jpeg_decoding_tables(scan_);
  tables_ = session_.allocate(tables.size() * sizeof(std::int32_t));
  note(JpegStep::upload,
       queue.upload(tables_, tables.data(), tables.size() * sizeof(std::int32_t)));
  return Loading(*this, queue, bytes, note).run();
}

CodeDescription JpegData::description() const {
  return {"self-synchronizing", "many parts at a time", kernels_.synchronize.origin(),
          kernels_.synchronize.source()};
}

std::int32_t JpegData::blocks() const {
  return static_cast<std::int32_t>(scan_.mcus().pixels()) * scan_.units();
}

std::int32_t JpegData::segment_blocks() const {
  if (scan_.restart_interval == 0) return blocks();
  return static_cast<std::int32_t>(scan_.restart_interval) * scan_.units();
}

std::int32_t JpegData::segments() const {
  return static_cast<std::int32_t>(segments_of(scan_));
}

// ---- JpegRows ----

std::uint64_t JpegRows::memory_of(const JpegScan& scan, int rows) {
  return samples_of(scan, max_mcu_rows(scan, rows)) * (sizeof(std::int16_t) + 1);
}

JpegRows::JpegRows(Session& session, const JpegData& data, int max_rows)
    : data_(data),
      clear_(entropy_kernel(session, "clear")),
      store_(entropy_kernel(session, "store_coefficients")),
      transform_(sample_kernel(session, "transform_blocks")),
      color_(sample_kernel(session, "color_rows")) {
  const JpegScan& scan = data.scan();
  const auto samples = static_cast<std::size_t>(samples_of(scan, max_mcu_rows(scan, max_rows)));
  coefficients_ = session.allocate(samples * sizeof(std::int16_t));
  planes_ = session.allocate(samples);
}

std::vector<CodeDescription> JpegRows::descriptions() const {
  return {{"integer", "as libjpeg", transform_.origin(), transform_.source()},
          {"smooth", "as libjpeg", color_.origin(), color_.source()}};
}

void JpegRows::enqueue(Queue& queue, const DeviceRows& target, const NoteJpegCommand& note) const {
  const JpegScan& scan = data_.scan();
  const RowRange mcu_rows = mcu_rows_of(scan, target.rows);
  const std::int32_t mcus_a_row = scan.mcus().width;
  const std::int32_t blocks_a_row = mcus_a_row * scan.units();
  const std::int32_t first_block = mcu_rows.begin * blocks_a_row;
  const std::int32_t block_count = mcu_rows.count() * blocks_a_row;
  const std::int32_t words = block_count * 8;  // of 16 bytes
  note(JpegStep::entropy, queue.launch(clear_, items(words), {coefficients_, words}));
  note(JpegStep::entropy, queue.launch(store_, items(data_.subsequences_, decoders),
                                       {data_.data_, data_.ranges_, data_.subsequences_,
                                        data_.tables_, scan.luma_units(), scan.units(),
                                        data_.first_places_, data_.sums_, data_.segment_blocks(),
                                        data_.blocks(), coefficients_, first_block, block_count}));
  const auto components = static_cast<std::int32_t>(scan.components.size());
  note(JpegStep::transform,
       queue.launch(transform_, items(block_count),
                    {coefficients_, block_count, data_.tables_, jpeg_table_words, planes_,
                     mcus_a_row, mcu_rows.count(), components, scan.horizontal, scan.vertical}));
  const std::int32_t chroma_width = divided_up(scan.size.width, scan.horizontal);
  const std::int32_t chroma_height = divided_up(scan.size.height, scan.vertical);
  const PixelFormat format{components, 8};
  const auto columns = static_cast<std::size_t>(divided_up(scan.size.width, 4));
  note(JpegStep::color,
       queue.launch(
           color_, {columns, static_cast<std::size_t>(target.rows.count()), 64, 1},
           {planes_, mcus_a_row, mcu_rows.count(), components, scan.horizontal, scan.vertical,
            mcu_rows.begin, *target.buffer, pitch_in_samples(scan.size.width, format),
            target.rows.begin, target.rows.count(), scan.size.width, chroma_width, chroma_height}));
}

}  // namespace gpufilter
