// The Huffman codes of a JPEG: tables, and the loop over the codes of a subsequence. Part of jpeg_entropy.cl.

// ---- Codes ----

// The layout of src/compute/jpeg_decoder.cpp: for each component the codes of the first coefficient and of the others.
#define FAST_BITS 10
#define LONG_LENGTHS (16 - FAST_BITS)
typedef struct {
  // Codes of up to FAST_BITS bits have an entry, as CODE() makes it, for whatever follows them; the others 0.
  uint fast[6][1 << FAST_BITS];
  // For each longer length the lowest 16 bits with which no code of that length or less begins, and
  // the offset from a code to the index of its symbol.
  int limits[6][8];
  int offsets[6][8];
  uchar symbols[6][256];
  uchar divisors[3][64];  // of the components, in the order of the coefficients
  uchar places[64];       // of the coefficients in their block, row by row
} __attribute__((aligned(16))) tables_t;

// A table entry for a code of `length` bits: its bits together with those of the value after it,
// the coefficients that it skips, and the two lengths.
#define CODE(length, run, size) ((length) + (size) | (run) << 8 | (size) << 16 | (length) << 24)
#define CODE_BITS(code) ((code) & 255)
#define CODE_RUN(code) ((code) >> 8 & 255)
#define CODE_SIZE(code) ((code) >> 16 & 255)
#define CODE_LENGTH(code) ((code) >> 24 & 127)
#define BLOCK_ENDS 64       // the run of a code after which the block has no more coefficients
#define NO_CODE (1u << 31)  // a flag: the bits begin no code

// Every work-item of the group must execute this. Copies nothing if it `is_idle`.
void copy_tables(__global const uint4 *from, __local tables_t *tables, int is_idle) {
  __local uint4 *to = (__local uint4 *)tables;
  const int words = is_idle ? 0 : sizeof(tables_t) / sizeof(uint4);
  for (int i = get_local_id(0); i < words; i += get_local_size(0))
    to[i] = from[i];
  barrier(CLK_LOCAL_MEM_FENCE);
}

// The code at the beginning of `bits` if it has more than FAST_BITS bits; for no valid code, one
// bit.
uint long_code(uint bits, __local const tables_t *tables, int table) {
  const int first = bits >> 16;
  int i = 0;
#pragma unroll
  for (int k = 0; k < LONG_LENGTHS; ++k)
    i += first >= tables->limits[table][k];
  if (i == LONG_LENGTHS) return NO_CODE | CODE(1u, (table & 1 ? BLOCK_ENDS : 0u), 0u);
  const int length = FAST_BITS + 1 + i;
  const uint symbol = tables->symbols[table][((first >> (16 - length)) + tables->offsets[table][i]) & 255];
  const uint size = symbol & 15;
  const uint run = symbol >> 4;
  return CODE((uint)length, (table & 1) == 0 ? 0u : size == 0 && run < 15 ? BLOCK_ENDS : run, size);
}

// ---- Decoding ----

// The units of an MCU: the blocks of luma, then one of each chroma component.
#define COMPONENT_OF(unit) ((unit) < luma_units ? 0 : (unit) - luma_units + 1)

// The decoder's state at the end of a subsequence: bits behind its end, the unit, the next
// coefficient of the block.
#define PLACE(bits, unit, coefficient) ((bits) | (unit) << 8 | (coefficient) << 16)
#define PLACE_BITS(place) ((place) & 255)
#define PLACE_UNIT(place) ((place) >> 8 & 255)
#define PLACE_COEFFICIENT(place) ((place) >> 16)

// Actions on the coefficients:
#define COUNT 0  // blocks are counted and the first coefficients added up, and whatever is wrong is ignored
#define CHECK 1  // errors are recorded
#define STORE 2  // they are stored

// Decodes the codes that begin before bit `end`, or until `blocks_left` blocks are finished: the
// last one of the segment, which ends at bit `segment_end`. Adds to `total`, the segment's sums so
// far: finished blocks, and for each component the differences of the first coefficients.
// Coefficients of the blocks 0 <= block < block_count are stored; the first block that is decoded
// here has the number `block`. Returns where decoding stands then.
UNROLLED int decode(const int task, __global const uint *data, int4 subsequence, int place,
                    __local const tables_t *tables, int luma_units, int units, int4 *total, int *faults_found,
                    int blocks_left, int segment_end, __global short *coefficients, int block, int block_count) {
  // A block lies in at most three subsequences. If each has a third of this energy, no sum in libjpeg's vector code
  // exceeds 16 bits.
  const int max_energy = 2047 * 2047 / 3;
  int position = subsequence.x + PLACE_BITS(place);
  int unit = PLACE_UNIT(place);
  int coefficient = PLACE_COEFFICIENT(place);
  int4 sum = *total;
  int faults = 0;
  int energy = 0;
  int component = COMPONENT_OF(unit);
  int table = 2 * component + (coefficient != 0);
  int next = position >> 5;
  int ready = 64 - (position & 31);  // bits in the window
  ulong window = ((ulong)data[next] << 32 | data[next + 1]) << (position & 31);
  uint ahead = data[next + 2];
  next += 3;
  while (position < subsequence.y) {
    if (ready < 32) {
      window |= (ulong)ahead << (32 - ready);
      ready += 32;
      ahead = data[next++];
    }
    const uint bits = window >> 32;
    uint code = tables->fast[table][bits >> (32 - FAST_BITS)];
    if (code == 0) code = long_code(bits, tables, table);
    const int used = CODE_BITS(code);
    const int run = CODE_RUN(code);
    position += used;
    ready -= used;
    window <<= used;
    coefficient += run;
    const int is_first = (table & 1) == 0;
    const int size = CODE_SIZE(code);
    const int extra = (int)((bits << CODE_LENGTH(code)) >> 1) >> (31 - size);
    // A leading 0 bit means a negative value.
    const int value = extra + (extra >> max(size - 1, 0) & 1 || size == 0 ? 0 : 1 - (1 << size));
    if (task == CHECK && code & NO_CODE) faults |= WRONG_DATA;
    int stored = value;
    if (is_first) {
      sum.y += component == 0 ? value : 0;
      sum.z += component == 1 ? value : 0;
      sum.w += component == 2 ? value : 0;
      stored = (short)(component == 0 ? sum.y : component == 1 ? sum.z : sum.w);
      ++table;
    }
    if (task != COUNT && (is_first || size != 0)) {
      if (task == CHECK) {
        const int product = coefficient < 64 ? stored * tables->divisors[component][coefficient & 63] : 0;
        const int bounded = clamp(product, -2048, 2048);
        energy += bounded * bounded;
        if (energy > max_energy) faults |= TOO_LARGE;
        energy = min(energy, max_energy + 1);
      } else if (block >= 0 && block < block_count && coefficient < 64) {
        coefficients[block * 64 + tables->places[coefficient]] = stored;
      }
    }
    if (task == CHECK && coefficient > 63 && run != BLOCK_ENDS) faults |= WRONG_DATA;
    if (++coefficient < 64) continue;
    coefficient = 0;
    energy = 0;
    unit = unit + 1 < units ? unit + 1 : 0;
    component = COMPONENT_OF(unit);
    table = 2 * component;
    ++sum.x;
    ++block;
    if (task != COUNT && --blocks_left == 0) {
      if (task == CHECK && (position > segment_end || segment_end - position > 7)) faults |= WRONG_LENGTH;
      break;
    }
  }
  *total = sum;
  *faults_found = faults;
  return PLACE(max(position - subsequence.y, 0), unit, coefficient);
}
