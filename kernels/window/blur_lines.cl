// The 3x3 box blur of three lines, each the words of a row (window.cl): a part of blur_packed.cl.

// ---- Sums side by side ----

// The samples of a line, or sums of them: of 8 bits, the first and third of a word's four in `even`, the others in
// `odd`, each in 16 bits; of 16 bits, the first of a word's two and the second. Sums of nine fit.
typedef struct {
  uint even[ROW_WORDS], odd[ROW_WORDS];
} halves_t;

#if DEPTH == 8
#define EVEN(word) ((word) & 0x00ff00ffu)
#if NVIDIA
#define ODD(word) bytes_of(word, 0, 0x4341)
#else
#define ODD(word) ((word) >> 8 & 0x00ff00ffu)
#endif
#else
#define EVEN(word) ((word) & 0xffffu)
#define ODD(word) ((word) >> 16)
#endif

halves_t halves_of(const uint *line) {
  halves_t halves;
#pragma unroll
  for (int i = 0; i < ROW_WORDS; ++i) {
    halves.even[i] = EVEN(line[i]);
    halves.odd[i] = ODD(line[i]);
  }
  return halves;
}

halves_t column_sums(const halves_t *above, const halves_t *here, const halves_t *below) {
  halves_t sums;
#pragma unroll
  for (int i = 0; i < ROW_WORDS; ++i) {
    sums.even[i] = above->even[i] + here->even[i] + below->even[i];
    sums.odd[i] = above->odd[i] + here->odd[i] + below->odd[i];
  }
  return sums;
}

// A word of sums from sample i on, in the layout of `even` and `odd`.
uint sums_from(const halves_t *sums, int i) {
  const int word = i / SAMPLES_A_WORD;
  const uint first = i % 2 == 0 ? sums->even[word] : sums->odd[word];
#if DEPTH == 8
  if (i % 4 < 2) return first;
  return first >> 16 | (i % 2 == 0 ? sums->even[word + 1] : sums->odd[word + 1]) << 16;
#else
  return first;
#endif
}

// The sums of a sample and its two neighbours in the row.
uint sums_of_three(const halves_t *sums, int i) {
  return sums_from(sums, i - CHANNELS) + sums_from(sums, i) + sums_from(sums, i + CHANNELS);
}

// (S + 4) / 9. For 8 bits, (S + 4) * 7282 >> 16 is exact to S = 2295; for 16 bits 477218589 is 2^32 / 9, rounded
// up, and exact to S + 4 = 589819.
#if DEPTH == 8
#define MEAN_SHIFTED(sum) ((sum) * 7282 + 4 * 7282)
uint mean(uint sum) { return MEAN_SHIFTED(sum) >> 16; }
#else
uint mean(uint sum) { return mul_hi(sum + 4, 477218589u); }
#endif

// The elements of a blurred stretch: words, or samples, each as the bits of the float 2^23 + mean.
#if NVIDIA && DEPTH == 8 && !ALPHA_WEIGHTED
#define BLURRED (PIXELS * CHANNELS)
#define STORE_BLURRED STORE_NUMBERS

// (S + 4) / 9, rounded down, is S / 9, rounded to the nearest. S / 9 is at least 1/18 away from where that changes,
// and 1.0f / 9 wrong by less than 2^-24 of it. Floats have twice the rate of integers.
uint mean_bits(float sum) { return as_uint(fma(sum, 1.0f / 9, 8388608.0f)); }

void mean_word(uint *samples, uint even, uint odd) {
  samples[0] = mean_bits(as_float(bytes_of(even, 0x4b000000, 0x7410)) - 8388608.0f);
  samples[1] = mean_bits(as_float(bytes_of(odd, 0x4b000000, 0x7410)) - 8388608.0f);
  samples[2] = mean_bits(as_float(bytes_of(even, 0x4b000000, 0x7432)) - 8388608.0f);
  samples[3] = mean_bits(as_float(bytes_of(odd, 0x4b000000, 0x7432)) - 8388608.0f);
}
#else
#define BLURRED OWN_WORDS
#define STORE_BLURRED STORE_WORDS

void mean_word(uint *word, uint even, uint odd) {
#if DEPTH == 8
  *word = MEAN_SHIFTED(even & 0xffff) >> 16 | (MEAN_SHIFTED(odd & 0xffff) >> 8 & 0xff00) |
          (MEAN_SHIFTED(even >> 16) & 0xff0000) | (MEAN_SHIFTED(odd >> 16) << 8 & 0xff000000);
#else
  *word = mean(even) | mean(odd) << 16;
#endif
}
#endif

void means_of(uint *blurred, const halves_t *above, const halves_t *here, const halves_t *below) {
  const halves_t columns = column_sums(above, here, below);
#pragma unroll
  for (int i = 0; i < OWN_WORDS; ++i) {
    const int first = OWN_SAMPLE + i * SAMPLES_A_WORD;
    mean_word(blurred + i * (BLURRED / OWN_WORDS), sums_of_three(&columns, first), sums_of_three(&columns, first + 1));
  }
}

// The blur of three lines as a stretch, channels independent.
#if LOOP_OVER_SAMPLES && DEPTH == 8
// For compilers that vectorise loops: sums of columns first, and all in 16 bits, of which vectors hold the most.
void plain_means(uint *words, const uint *above, const uint *here, const uint *below) {
  const uchar *rows[3] = {(const uchar *)above + OWN_SAMPLE, (const uchar *)here + OWN_SAMPLE,
                          (const uchar *)below + OWN_SAMPLE};
  uchar *means = (uchar *)words;
  ushort columns[(PIXELS + 2) * CHANNELS];
  for (int i = 0; i < (PIXELS + 2) * CHANNELS; ++i) {
    columns[i] = (ushort)rows[0][i - CHANNELS] + rows[1][i - CHANNELS] + rows[2][i - CHANNELS];
  }
  for (int i = 0; i < PIXELS * CHANNELS; ++i) {
    const ushort sum = columns[i] + columns[i + CHANNELS] + columns[i + 2 * CHANNELS] + 4;
    means[i] = (uchar)((uint)sum * 7282 >> 16);  // as mean(): the upper half of a product
  }
}
#else
void plain_means(uint *blurred, const uint *above, const uint *here, const uint *below) {
  const halves_t rows[3] = {halves_of(above), halves_of(here), halves_of(below)};
  means_of(blurred, &rows[0], &rows[1], &rows[2]);
}
#endif

// ---- Weighing by alpha ----

#if ALPHA_WEIGHTED
#if DEPTH == 16
typedef ulong weighted_t;  // 9 * 65535 * 65535 needs 36 bits
#else
typedef uint weighted_t;
#endif

// Sums over a pixel and its two neighbours in the row: colour * alpha, and alpha.
typedef struct {
  weighted_t colors[PIXELS * COLORS];
  uint alpha[PIXELS];
} weights_t;

weights_t weigh(const uint *line) {
  uint products[(PIXELS + 2) * COLORS], alpha[PIXELS + 2];
#pragma unroll
  for (int i = 0; i < PIXELS + 2; ++i) {
    const int pixel = FIRST_SAMPLE + i * CHANNELS;
    alpha[i] = sample_of(line, pixel + COLORS);
#pragma unroll
    for (int c = 0; c < COLORS; ++c) {
      products[i * COLORS + c] = sample_of(line, pixel + c) * alpha[i];
    }
  }
  weights_t weights;
#pragma unroll
  for (int i = 0; i < PIXELS; ++i) weights.alpha[i] = alpha[i] + alpha[i + 1] + alpha[i + 2];
#pragma unroll
  for (int i = 0; i < PIXELS * COLORS; ++i) {
    weights.colors[i] = (weighted_t)products[i] + products[i + COLORS] + products[i + 2 * COLORS];
  }
  return weights;
}

// (sum + alpha / 2) / alpha of integers, the sum at most MAX_SAMPLE * alpha, which is not 0. OpenCL's
// 1 / alpha may be wrong by 2.5 units in the last place, 2^-21.6 of it.
uint weighted_mean(weighted_t sum, uint alpha, float inverse) {
#if DEPTH == 8
  // The nearest integer to sum / alpha + 1 / (4 alpha), which is at least 1 / (4 alpha), 0.000109, away
  // from where the nearest integer changes. Errors add up to 0.000085.
  const float mean = fma(from_sample(sum), inverse, 0.25f * inverse);
  return as_uint(mean + 8388608.0f) & 0xff;
#else
  // The float is less than 1 away from the quotient.
  const ulong dividend = sum + alpha / 2;
  const float estimate = fma((float)(uint)(dividend >> 16), 65536.0f, (float)((uint)dividend & 0xffff));
  const uint quotient = (uint)(estimate * inverse);
  const int rest = (int)((uint)dividend - quotient * alpha);
  return rest < 0 ? quotient - 1 : rest >= (int)alpha ? quotient + 1 : quotient;
#endif
}

#if DEPTH == 16
#define ALPHA_BITS 0xffff0000u
#elif CHANNELS == 4
#define ALPHA_BITS 0xff000000u
#else
#define ALPHA_BITS 0xff00ff00u
#endif

// The bits that all alphas of a line have; ALPHA_BITS if the line is opaque. Samples that no pixel needs count too.
uint common_alpha(const uint *line) {
  uint all = ALPHA_BITS;
#pragma unroll
  for (int word = CHANNELS * DEPTH / 64; word < ROW_WORDS; word += (CHANNELS * DEPTH + 31) / 32) all &= line[word];
  return all;
}

// A line and what weighing needs of it.
typedef struct {
  uint line[ROW_WORDS];
  weights_t weights;
} weighed_line_t;

// The blur of three lines as a stretch.
void weighted_means(uint *words, const weighed_line_t *above, const weighed_line_t *here,
                    const weighed_line_t *below) {
  const weights_t *first = &above->weights, *second = &here->weights, *third = &below->weights;
  uint alphas[PIXELS];
  bool has_plain = false;
#pragma unroll
  for (int i = 0; i < OWN_WORDS; ++i) words[i] = 0;
#pragma unroll
  for (int i = 0; i < PIXELS; ++i) {
    alphas[i] = first->alpha[i] + second->alpha[i] + third->alpha[i];
    has_plain = has_plain || alphas[i] == 0;
    const uint divisor = max(alphas[i], 1u);
    const float inverse = 1.0f / from_sample(divisor);
    target_pixel_t pixel;
#pragma unroll
    for (int c = 0; c < COLORS; ++c) {
      const int j = i * COLORS + c;
      const weighted_t sum = first->colors[j] + second->colors[j] + third->colors[j];
      pixel.at[c] = (sample_t)weighted_mean(sum, divisor, inverse);
    }
    pixel.at[COLORS] = (sample_t)mean(alphas[i]);
    put_target_pixel(words, i, pixel);
  }
  if (!has_plain) return;
  uint plain[OWN_WORDS];
  plain_means(plain, above->line, here->line, below->line);
#pragma unroll
  for (int i = 0; i < PIXELS; ++i) {
    if (alphas[i] == 0) put_pixel(words, i * CHANNELS, pixel_of(plain, i));
  }
}
#endif

// ---- Three lines become a stretch ----

// The form in which a kernel keeps a line for three rows: words, or halves.
#if ALPHA_WEIGHTED || LOOP_OVER_SAMPLES || DEPTH == 16
typedef struct {
  uint words[ROW_WORDS];
} kept_line_t;

kept_line_t keep_line(const uint *line) {
  kept_line_t kept;
#pragma unroll
  for (int i = 0; i < ROW_WORDS; ++i) kept.words[i] = line[i];
  return kept;
}

void blur_three(uint *blurred, const kept_line_t *above, const kept_line_t *here, const kept_line_t *below) {
#if ALPHA_WEIGHTED
  if ((common_alpha(above->words) & common_alpha(here->words) & common_alpha(below->words)) != ALPHA_BITS) {
    const kept_line_t *lines[3] = {above, here, below};
    weighed_line_t weighed[3];
#pragma unroll
    for (int i = 0; i < 3; ++i) {
#pragma unroll
      for (int word = 0; word < ROW_WORDS; ++word) weighed[i].line[word] = lines[i]->words[word];
      weighed[i].weights = weigh(lines[i]->words);
    }
    weighted_means(blurred, &weighed[0], &weighed[1], &weighed[2]);
    return;
  }
#endif
  plain_means(blurred, above->words, here->words, below->words);
}
#else
typedef halves_t kept_line_t;
#define keep_line halves_of
#define blur_three means_of
#endif
