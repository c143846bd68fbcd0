// One work-item's statistics over pixels, before they become totals_t: a part of reduce.cl.

// As many pixels as 32 bits have room for the sums of: 65535 * 65536 and 255 * 255 * 65536.
#define MAX_PART 65536

#if COMPUTE_CAPABILITY >= 61 && DEPTH == 8
#define FOUR_AT_ONCE 1
#else
#define FOUR_AT_ONCE 0
#endif

#if DEPTH == 8
typedef uint square_t;
#else
typedef ulong square_t;
#endif

// `opaque` stretches whose alpha is MAX_SAMPLE throughout are not in `product`.

#if FOUR_AT_ONCE

// Sums of squares and sums are by channel, four samples at a time. Extremes and bits are of words
// as read: after PERIOD words the channels repeat. Bytes 1 and 3 of a word are the high bytes of
// its halves, which decide a comparison of halves; so are bytes 0 and 2 once they are shifted
// there.
#define PERIOD (CHANNELS == 3 ? 3 : 1)
typedef struct {
  uint even_minimum[PERIOD], odd_minimum[PERIOD], even_maximum[PERIOD], odd_maximum[PERIOD];
  uint bit_and[PERIOD], bit_or[PERIOD], bit_xor[PERIOD];
  uint sum[CHANNELS], squares[CHANNELS];
  ulong product[CHANNELS];
  uint opaque;
} parts_t;

// The sum of four products, and `sum`.
uint dot(uint a, uint b, uint sum) {
  uint result;
  asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
  return result;
}
#if COMPUTE_CAPABILITY >= 90
#define PAIRWISE(name)                                                              \
  uint name##_pairs(uint a, uint b) {                                               \
    uint result;                                                                    \
    asm(#name ".u16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));                \
    return result;                                                                  \
  }
#else
#define PAIRWISE(name) \
  uint name##_pairs(uint a, uint b) { return as_uint(name(as_ushort2(a), as_ushort2(b))); }
#endif
PAIRWISE(min)
PAIRWISE(max)

// The samples of channel `c` in the words of four pixels.
uint four_samples(const uint *words, int c) {
#if CHANNELS == 1
  return words[0];
#elif CHANNELS == 2
  return bytes_of(words[0], words[1], c == 0 ? 0x6420 : 0x7531);
#elif CHANNELS == 3
  const uint first = bytes_of(words[0], words[1], c == 0 ? 0x0630 : c == 1 ? 0x0741 : 0x0052);
  return bytes_of(first, words[2], c == 0 ? 0x5210 : c == 1 ? 0x6210 : 0x7410);
#else
  const uint which = c < 2 ? 0x5140 : 0x7362;
  return bytes_of(bytes_of(words[0], words[1], which), bytes_of(words[2], words[3], which),
                  c % 2 == 0 ? 0x5410 : 0x7632);
#endif
}

// Adds a word, given once for the extremes and once for the bits: bytes that are to change nothing
// differ.
void add_word(parts_t *parts, int place, uint for_minimum, uint for_maximum, uint for_and, uint for_or) {
  parts->even_minimum[place] = min_pairs(parts->even_minimum[place], for_minimum << 8);
  parts->odd_minimum[place] = min_pairs(parts->odd_minimum[place], for_minimum);
  parts->even_maximum[place] = max_pairs(parts->even_maximum[place], for_maximum << 8);
  parts->odd_maximum[place] = max_pairs(parts->odd_maximum[place], for_maximum);
  parts->bit_and[place] &= for_and;
  parts->bit_or[place] |= for_or;
  parts->bit_xor[place] ^= for_or;
}

void add_pixels(parts_t *parts, const uint *words) {
#pragma unroll
  for (int i = 0; i < PIXELS / 4; ++i) {
#pragma unroll
    for (int w = 0; w < CHANNELS; ++w) {
      const uint word = words[i * CHANNELS + w];
      add_word(parts, w % PERIOD, word, word, word, word);
    }
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) {
      const uint four = four_samples(words + i * CHANNELS, c);
      parts->sum[c] = dot(four, 0x01010101, parts->sum[c]);
      parts->squares[c] = dot(four, four, parts->squares[c]);
    }
  }
}

// Channel `c` of a pixel is byte `c` of word 0 of some stretch.
void add_sample(parts_t *parts, int c, uint sample) {
  const uint others = ~(0xffu << 8 * c);
  const uint byte = sample << 8 * c;
  add_word(parts, 0, byte | others, byte, byte | others, byte);
  parts->sum[c] += sample;
  parts->squares[c] += sample * sample;
}

void clear_parts(parts_t *parts) {
#pragma unroll
  for (int w = 0; w < PERIOD; ++w) {
    parts->even_minimum[w] = parts->odd_minimum[w] = parts->bit_and[w] = UINT_MAX;
    parts->even_maximum[w] = parts->odd_maximum[w] = parts->bit_or[w] = parts->bit_xor[w] = 0;
  }
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) {
    parts->sum[c] = parts->squares[c] = 0;
    parts->product[c] = 1;
  }
  parts->opaque = 0;
}

totals_t totals_of(const parts_t *parts, int c) {
  totals_t totals = NO_TOTALS;
  totals.sum = parts->sum[c];
  totals.squares = parts->squares[c];
#pragma unroll
  for (int i = 0; i < 4 * PERIOD; ++i) {
    if (i % CHANNELS != c) continue;
    const int w = i / 4, shift = i % 4 * 8, top = i % 4 / 2 * 16 + 8;
    const bool odd = i % 2 == 1;
    totals.minimum = min(totals.minimum, (odd ? parts->odd_minimum[w] : parts->even_minimum[w]) >> top & 0xff);
    totals.maximum = max(totals.maximum, (odd ? parts->odd_maximum[w] : parts->even_maximum[w]) >> top & 0xff);
    totals.bit_and &= parts->bit_and[w] >> shift & 0xff;
    totals.bit_or |= parts->bit_or[w] >> shift & 0xff;
    totals.bit_xor ^= parts->bit_xor[w] >> shift & 0xff;
  }
  return totals;
}

#else

typedef struct {
  uint sum[CHANNELS], minimum[CHANNELS], maximum[CHANNELS];
  uint bit_and[CHANNELS], bit_or[CHANNELS], bit_xor[CHANNELS];
  square_t squares[CHANNELS];
  ulong product[CHANNELS];
  uint opaque;
} parts_t;

void add_sample(parts_t *parts, int c, uint sample) {
  parts->sum[c] += sample;
  parts->squares[c] += (square_t)sample * sample;
  parts->minimum[c] = min(parts->minimum[c], sample);
  parts->maximum[c] = max(parts->maximum[c], sample);
  parts->bit_and[c] &= sample;
  parts->bit_or[c] |= sample;
  parts->bit_xor[c] ^= sample;
}

void add_pixels(parts_t *parts, const uint *words) {
#pragma unroll
  for (int i = 0; i < PIXELS * CHANNELS; ++i) {
    add_sample(parts, i % CHANNELS, sample_of(words, i));
  }
}

void clear_parts(parts_t *parts) {
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) {
    parts->sum[c] = parts->squares[c] = 0;
    parts->maximum[c] = parts->bit_or[c] = parts->bit_xor[c] = 0;
    parts->minimum[c] = parts->bit_and[c] = UINT_MAX;
    parts->product[c] = 1;
  }
  parts->opaque = 0;
}

totals_t totals_of(const parts_t *parts, int c) {
  totals_t totals = NO_TOTALS;
  totals.sum = parts->sum[c];
  totals.squares = parts->squares[c];
  totals.minimum = parts->minimum[c];
  totals.maximum = parts->maximum[c];
  totals.bit_and = parts->bit_and[c];
  totals.bit_or = parts->bit_or[c];
  totals.bit_xor = parts->bit_xor[c];
  return totals;
}

#endif

// ---- Products ----
// The product soon becomes 0 modulo 2^64, since every even sample adds a factor of 2. `twos` counts some of these
// factors for the work-group; once there are 64, the product is 0. Opaque alpha never makes it 0: it is a power.

ulong power(ulong base, uint exponent) {
  ulong result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result *= base;
    base *= base;
  }
  return result;
}

// The number of factors counted so far, while other work-items may be counting. A plain load would
// be a data race, except on NVIDIA, where volatile loads are relaxed atomic ones (PTX's memory
// consistency model) and cost less than atomic operations.
#if GROUP_SIZE == 1 || defined(__NV_CL_C_VERSION)
uint counted_twos(__local volatile uint *twos) { return *twos; }
#else
uint counted_twos(__local volatile uint *twos) { return atomic_or(twos, 0u); }
#endif

// Multiplies by the samples of the channels that `wanted` has a bit for. Returns those that are still wanted.
uint multiply(parts_t *parts, const uint *words, uint wanted, __local volatile uint *twos) {
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) {
    if ((wanted >> c & 1) == 0) continue;
    if (HAS_ALPHA && c == CHANNELS - 1 && has_opaque_alpha(words)) {
      ++parts->opaque;
      continue;
    }
    ulong product = 1;
#pragma unroll
    for (int i = c; i < PIXELS * CHANNELS; i += 4 * CHANNELS) {
      const uint two = sample_of(words, i) * sample_of(words, i + CHANNELS);
      const uint more = sample_of(words, i + 2 * CHANNELS) * sample_of(words, i + 3 * CHANNELS);
      product *= (ulong)two * more;
    }
    parts->product[c] *= product;
    if (get_local_id(0) % STRIDE == 0) {
      atomic_add(&twos[c], (uint)popcount((product & -product) - 1));
    }
    if (counted_twos(&twos[c]) >= 64) wanted &= ~(1u << c);
  }
  return wanted;
}
