#include <algorithm>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "base/background.hpp"

namespace gpufilter {
namespace {

struct Numbered {
  int number = 0;
  int square = 0;
};

TEST(OrderedPieces, DeliversInOrderAndUsesPiecesAgain) {
  OrderedPieces<Numbered> pieces;
  std::vector<int> squares;
  std::vector<const Numbered*> known;
  const auto deliver = [&](const Numbered& piece) { squares.push_back(piece.square); };
  for (int i = 0; i < 100; ++i) {
    pieces.deliver_down_to(3, deliver);
    Numbered& piece = pieces.add(pieces.take());
    piece.number = i;
    if (i % 3 == 0) {
      piece.square = i * i;  // done by the caller
    } else {
      pieces.start_last([&piece] { piece.square = piece.number * piece.number; });
    }
    if (std::find(known.begin(), known.end(), &piece) == known.end()) known.push_back(&piece);
  }
  pieces.deliver_down_to(0, deliver);
  ASSERT_EQ(squares.size(), 100U);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(squares[static_cast<std::size_t>(i)], i * i);
  EXPECT_LE(known.size(), 4U);
}

TEST(OrderedPieces, ForwardsTheFailureOfAPieceInItsTurn) {
  OrderedPieces<Numbered> pieces;
  for (int i = 0; i < 3; ++i) {
    pieces.add(pieces.take()).number = i;
    pieces.start_last([i] {
      if (i == 1) throw std::runtime_error("the second");
    });
  }
  int delivered = 0;
  EXPECT_THROW(pieces.deliver_down_to(0, [&](const Numbered& /*piece*/) { ++delivered; }),
               std::runtime_error);
  EXPECT_EQ(delivered, 1);
  EXPECT_EQ(pieces.first().number, 1);
}

TEST(OrderedPieces, EndsWorkThatNobodyWaitsFor) {
  std::vector<int> done(50);
  OrderedPieces<Numbered> pieces;
  for (int& mark : done) {
    pieces.add(pieces.take());
    pieces.start_last([&mark] { mark = 1; });
  }
}

}  // namespace
}  // namespace gpufilter
