#include "lab/stage_samples.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>

#include "base/format.hpp"
#include "image/float_samples.hpp"

namespace gpufilter::lab {
namespace {

// Values worth trying, the default first.
std::vector<std::string> values_of(const ValueType& type, const std::string& first) {
  std::vector<std::string> values;
  if (!first.empty()) values.push_back(first);
  const auto add = [&](std::string value) {
    if (value != first) values.push_back(std::move(value));
  };
  if (const auto* words = std::get_if<OneOf>(&type)) {
    for (const Choice& choice : words->choices)
      add(choice.word);
  } else if (const auto* number = std::get_if<NumberIn>(&type)) {
    add(formatted("{}", number->low));
    add(formatted("{}", number->high));
  } else if (std::holds_alternative<NoValue>(type)) {
    values.emplace_back();
  }
  return values;
}

// All combinations, or those that differ from the first in at most one parameter.
std::vector<GivenParameters> combinations(const StageKind& kind, const std::string& value,
                                          bool all) {
  std::vector<GivenParameters> found{{}};
  for (const StageParameter& parameter : kind.parameters) {
    if (!kind.takes(value, parameter.option)) continue;
    const std::vector<std::string> values = values_of(parameter.type, parameter.default_value);
    const std::size_t before = all ? found.size() : 1;
    for (std::size_t i = 0; i < before; ++i) {
      for (std::size_t v = 1; v < values.size(); ++v) {
        GivenParameters more = found[i];
        more[parameter.option] = values[v];
        found.push_back(std::move(more));
      }
    }
  }
  return found;
}

std::string text_of(const GivenParameters& given) {
  std::string text;
  for (const auto& [option, word] : given)
    text += formatted(" {} {}", option, word);
  return text;
}

std::string text_of(const StageKind& kind, const std::string& value, const GivenParameters& given) {
  const char* quote = value.find(' ') != std::string::npos ? "\"" : "";
  std::string text = kind.option;
  if (!value.empty()) text += formatted(" {}{}{}", quote, value, quote);
  return text + text_of(given);
}

}  // namespace

std::vector<std::string> stage_names() {
  std::vector<std::string> names;
  for (const StageKind& kind : stage_catalogue())
    names.push_back(kind.option.substr(2));
  return names;
}

std::vector<StageKind> stage_kinds(const std::vector<std::string>& names) {
  std::vector<StageKind> kinds;
  for (const StageKind& kind : stage_catalogue()) {
    const auto found = std::find(names.begin(), names.end(), kind.option.substr(2));
    if (names.empty() || found != names.end()) kinds.push_back(kind);
  }
  return kinds;
}

std::vector<StageSample> samples_of(const StageKind& kind, bool all) {
  std::vector<StageSample> samples;
  if (kind.sample_stages) {
    for (auto& [name, stage] : kind.sample_stages())
      samples.push_back({formatted("{} {}", kind.option, name), std::move(stage)});
  }
  const std::vector<std::string> values =
      kind.sample_values.empty() ? values_of(kind.type, "") : kind.sample_values;
  for (const std::string& value : values) {
    for (const GivenParameters& given : combinations(kind, value, all))
      samples.push_back(
          {text_of(kind, value, given), kind.make(value, given), given.empty(), text_of(given)});
  }
  return samples;
}

namespace {

void set_sample(std::uint8_t* row, std::size_t index, const PixelFormat& format,
                std::uint32_t value) {
  for_words(format, [&]<typename Word>(Word) {
    const auto word = static_cast<Word>(value);
    std::memcpy(row + index * sizeof word, &word, sizeof word);
  });
}

// A float between -0.5 and 1.5, or one that arithmetic treats differently, as its bits.
std::uint32_t float_sample(std::uint32_t draw) {
  constexpr std::array special{0.0F,  -0.0F,    1.0F,      std::numeric_limits<float>::denorm_min(),
                               1e30F, INFINITY, -INFINITY, NAN};
  return bits_of((draw >> 20U) % 5 == 0 ? special.at((draw >> 29U) % special.size())
                                        : static_cast<float>(draw) * 0x1p-31F - 0.5F);
}

constexpr std::size_t verify_turns = 4;

// Alpha by area: opaque, none, random.
std::uint32_t alpha_at(int x, int y, std::uint32_t random, std::uint32_t max) {
  const int area = (x / 11 + y / 7) % 3;
  return area == 0 ? max : area == 1 ? 0 : random;
}

std::vector<StageSample> quick_samples(const StageKind& kind, std::size_t turn) {
  std::vector<StageSample> samples = samples_of(kind, false);
  std::map<std::string, std::size_t> values;  // that take the parameters
  for (const StageSample& sample : samples)
    ++values[sample.parameters];
  std::map<std::string, std::size_t> passed;
  std::erase_if(samples, [&](const StageSample& sample) {
    if (sample.has_defaults) return false;
    return passed[sample.parameters]++ != turn % values[sample.parameters];
  });
  return samples;
}

}  // namespace

std::vector<VerifyChain> verify_samples(const std::vector<std::string>& stages, bool quick,
                                        std::size_t turn) {
  constexpr std::size_t many = 8;
  std::vector<VerifyChain> chains;
  for (const StageKind& kind : stage_kinds(stages)) {
    if (quick) {
      for (const StageSample& sample : quick_samples(kind, turn))
        chains.push_back({sample.text, {sample.stage}});
      continue;
    }
    const std::vector<StageSample> samples = samples_of(kind, true);
    const std::size_t turns = std::clamp<std::size_t>(samples.size() / many, 1, verify_turns);
    for (std::size_t i = turn % turns; i < samples.size(); i += turns)
      chains.push_back({samples[i].text, {samples[i].stage}, samples[i].has_defaults});
  }
  return chains;
}

std::vector<VerifyChain> verify_pairs(const std::vector<std::string>& stages, std::size_t turn) {
  std::vector<StageSample> usual;
  for (const StageKind& kind : stage_kinds(stages)) {
    const std::vector<StageSample> samples = samples_of(kind, false);
    if (!samples.empty()) usual.push_back(samples.front());
  }
  const std::size_t followers = usual.size() <= 4 ? usual.size() : 1;
  std::vector<VerifyChain> pairs;
  for (std::size_t i = 0; i < usual.size(); ++i) {
    for (std::size_t k = 0; k < followers; ++k) {
      const StageSample& first = usual[i];
      const StageSample& second = usual[(i + 1 + turn + k) % usual.size()];
      pairs.push_back({first.text + " " + second.text, {first.stage, second.stage}});
    }
  }
  return pairs;
}

std::vector<PixelFormat> verify_formats(bool quick) {
  if (quick) return {{3, 8}, {4, 16}};
  std::vector<PixelFormat> formats;
  for (const int depth : {8, 16}) {
    for (const int channels : {1, 2, 3, 4})
      formats.push_back({channels, depth});
  }
  return formats;
}

std::vector<ImageSize> verify_sizes(bool quick) {
  if (quick) return {{67, 37}};
  return {{67, 37}, {1, 1}, {2, 3}, {261, 19}};
}

std::vector<int> verify_bands(int height, bool quick) {
  std::vector<int> bands{height};
  for (const int rows : {7, 1}) {
    if (rows < height && !(quick && rows == 1)) bands.push_back(rows);
  }
  return bands;
}

Image verify_picture(const PictureShape& shape) {
  Image image(shape.size, shape.format);
  const bool is_float = shape.format.is_float();
  const std::uint32_t max = is_float ? bits_of(1) : shape.format.max_sample();
  std::mt19937 random(static_cast<std::uint32_t>(shape.size.width * 31 + shape.size.height));
  const auto channels = static_cast<std::size_t>(shape.format.channels);
  for (int y = 0; y < shape.size.height; ++y) {
    std::uint8_t* row = image.rows().row(y);
    std::memset(row, 0x5A, image.pitch());  // padding, which must not be read as pixels
    for (int x = 0; x < shape.size.width; ++x) {
      for (std::size_t c = 0; c < channels; ++c) {
        const auto draw = static_cast<std::uint32_t>(random());
        std::uint32_t value = draw & max;
        if ((draw >> 20U) % 5 == 0) value = (draw >> 30U) % 2 == 0 ? 0 : max;
        if (is_float) value = float_sample(draw);
        if (shape.format.has_alpha() && c + 1 == channels) value = alpha_at(x, y, value, max);
        set_sample(row, static_cast<std::size_t>(x) * channels + c, shape.format, value);
      }
    }
  }
  return image;
}

}  // namespace gpufilter::lab
