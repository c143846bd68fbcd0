// Outputs whose pixels come from the input's file without being decoded: the file itself is copied
// where nothing is to change, or its pixels are moved to other places.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codec/codec.hpp"
#include "pipeline/run/picture_input.hpp"
#include "pipeline/run/run.hpp"

namespace gpufilter {

// What an output of moved pixels is made of.
struct StoredPart {
  StoredPicture* picture;
  Placement placement;
};

class StoredOutputs {
 public:
  // Decides by lossless_option() for `outputs`, as in RunOptions, and for the output at the end of
  // the chain. `chain` is the one for this picture; all outlive this object. Throws
  // PictureError if an output cannot be what that option asks for.
  StoredOutputs(PictureInput& input, const LoweredChain& chain,
                const std::vector<ChainOutput>& outputs, const Codec& last_format,
                const RunOptions& options);

  // Whether nothing has to be decoded, and whether something is stored.
  [[nodiscard]] bool are_all() const;
  [[nodiscard]] bool are_any() const;

  // For each output, whether no rows are written to it.
  [[nodiscard]] std::vector<bool> without_rows() const;

  // Reads the file if that is not left to the walks: nothing is copied of a damaged file either. If
  // its picture turns out to be unsuitable, all outputs are to be encoded, or it throws
  // PictureError as above.
  void load();
  // Whether an output's file is a copy of the input's.
  [[nodiscard]] bool is_copy(std::size_t output) const { return outputs_.at(output).copied; }
  // Whether all that is written are copies: then nothing of the input is lost.
  [[nodiscard]] bool are_copies() const;
  // After the walks have shown that the chain changes nothing: makes the last output a copy, if
  // that suits the options. Returns whether it is one.
  [[nodiscard]] bool copy_last();
  // For the output with this number, the last one having the highest; nothing if it is encoded.
  [[nodiscard]] std::optional<StoredPart> part(std::size_t output) const;
  // Once all outputs are finished. Throws PictureError.
  void finish();

  // Corrects what is known of the outputs in `report`.
  void describe(RunReport& report) const;
  // "turned without decoding"
  [[nodiscard]] std::string account() const;

 private:
  struct Output {
    bool kept = false;
    std::optional<Placement> placement = std::nullopt;
    bool copied = false;
    bool may_be_copied = false;  // if the stages change nothing
  };

  [[nodiscard]] Output decide(std::size_t stages, const Codec& format, bool kept);
  [[nodiscard]] bool may_copy_to(const Codec& format) const;
  [[nodiscard]] const LoweredStage* find_placement(std::size_t stages, Placement& placement) const;
  [[noreturn]] void refuse(const std::string& objection) const;
  void encode_all(const std::string& objection);
  void read_all();

  PictureInput& input_;
  const LoweredChain& chain_;
  const WriteOptions& options_;
  bool first_page_;
  bool keeps_damaged_;
  bool always_;
  std::vector<Output> outputs_;
  std::unique_ptr<ReadAhead> reader_;
};

}  // namespace gpufilter
