#include "codec/deflate/deflate.hpp"

#include <algorithm>
#include <bit>

#include "codec/deflate/bit_writer.hpp"
#include "codec/deflate/deflate_block.hpp"
#include "codec/deflate/match_finder.hpp"

namespace gpufilter {
namespace {

// Of a match, as many positions at its begin and at its end can be found later on. Those between
// seldom begin a better one, and each takes time.
constexpr std::size_t inserted_at_begin = 32;
constexpr std::size_t inserted_at_end = 8;

// Each byte earns the right to look at so many candidates later on. Long matches leave much of it
// over, which is spent where matches are harder to find: a search costs about as much time whatever
// the picture, and goes deepest where much is won.
constexpr int earned_before = 100;
constexpr int fewest_candidates = 4;
constexpr int most_candidates = 300;

// A match as long as this is hardly surpassed by the one that begins a byte later.
constexpr std::size_t good_match = 16;

// Whether a match that begins a byte later is better by more than the literal before it costs. A
// byte more saves about four bits, a distance twice as long takes one more.
bool is_better(const Match& later, const Match& match) {
  const auto gain = 4 * (static_cast<int>(later.length) - static_cast<int>(match.length));
  return gain + std::bit_width(match.distance) - std::bit_width(later.distance) > 2;
}

}  // namespace

struct Deflater::State {
  MatchFinder finder;
  DeflateBlock block;

  // One run over `data`.
  struct Run {
    MatchFinder& finder;
    DeflateBlock& block;
    std::span<const std::uint8_t> data;
    int effort;
    BitWriter out;
    std::size_t searchable;  // positions from here on have no matches
    std::int64_t spent = 0;  // candidates that were looked at
    std::size_t at = 0;      // of what comes next
    std::size_t block_begin = 0;

    // How many candidates a search may look at that wants a match longer than `known`.
    [[nodiscard]] int allowance(std::size_t position, std::size_t known) const {
      const auto earned = static_cast<std::int64_t>(position) * effort / 4 + earned_before;
      const auto spendable = std::max<std::int64_t>(earned - spent, 0);
      const unsigned share = known == 0 ? 1 : known < good_match ? 2 : 3;  // halvings
      return static_cast<int>(std::clamp<std::int64_t>(spendable >> share, fewest_candidates,
                                                       std::max(most_candidates, effort)));
    }

    [[nodiscard]] Match search(std::size_t position, std::size_t known) {
      if (position >= searchable) return {};
      const int allowed = allowance(position, known);
      int left = allowed;
      const Match match = finder.find(position, known, left);
      finder.insert(position);
      spent += allowed - left;
      return match;
    }

    void make_room() {
      if (!block.is_full()) return;
      block.write(data.subspan(block_begin, at - block_begin), false, out);
      block_begin = at;
    }

    void add_literal() {
      make_room();
      block.add_literal(data[at++]);
    }

    // The first `searched` positions of the match are inserted already.
    void add_match(const Match& match, std::size_t searched) {
      make_room();
      block.add_match(match.length, match.distance);
      const std::size_t end = std::min(at + match.length, searchable);
      std::size_t next = at + searched;
      for (; next < std::min(end, at + inserted_at_begin); ++next)
        finder.insert(next);
      for (next = std::max(next, end - std::min(end, inserted_at_end)); next < end; ++next)
        finder.insert(next);
      at += match.length;
    }

    void add_everything() {
      Match match = search(at, 0);
      while (at < data.size()) {
        if (match.length == 0) {
          add_literal();
          match = search(at, 0);
          continue;
        }
        const bool final = match.length == longest_match;
        const Match later = final ? Match{} : search(at + 1, match.length);
        if (later.length > 0 && is_better(later, match)) {
          add_literal();
          match = later;
        } else {
          add_match(match, final ? 1 : 2);
          match = search(at, 0);
        }
      }
    }
  };
};

Deflater::Deflater() : state_(std::make_unique<State>()) {}
Deflater::~Deflater() = default;

std::size_t Deflater::deflate(std::span<const std::uint8_t> data, const DeflateHints& hints,
                              int effort, bool last, std::uint8_t* deflated) {
  if (effort == 0) {
    BitWriter out(deflated);
    write_stored(data, last, out);
    return out.size();
  }
  state_->finder.start(data, hints.unit, hints.likely);
  State::Run run{state_->finder,
                 state_->block,
                 data,
                 effort,
                 BitWriter(deflated),
                 data.size() - std::min(data.size(), MatchFinder::blind_end)};
  run.add_everything();
  state_->block.write(data.subspan(run.block_begin), last, run.out);
  if (last) {
    run.out.fill_byte();
  } else {
    write_stored({}, false, run.out);
  }
  return run.out.size();
}

}  // namespace gpufilter
