// The peer of the pair-sum kernel: sums of minima of two lines of a strip, 4 x 4 lines at a time, vectors by hand.
#include <stdint.h>

#if defined(__AVX512F__)
#include <immintrin.h>
typedef __m512i vec;
#define LANES 16
#define LOAD(x) _mm512_loadu_si512((const void *)(x))
#define MIN _mm512_min_epu32
#define ADD _mm512_add_epi32
#define ZERO _mm512_setzero_si512()
#define HOLD(x) __asm__("" : "+v"(x))  // in its register: gcc would load it again for each use
static inline uint32_t total(vec v) { return (uint32_t)_mm512_reduce_add_epi32(v); }
#elif defined(__AVX2__)
#include <immintrin.h>
typedef __m256i vec;
#define LANES 8
#define LOAD(x) _mm256_loadu_si256((const __m256i *)(x))
#define MIN _mm256_min_epu32
#define ADD _mm256_add_epi32
#define ZERO _mm256_setzero_si256()
#define HOLD(x) __asm__("" : "+x"(x))
static inline uint32_t total(vec v) {
  uint32_t lane[8], sum = 0;
  _mm256_storeu_si256((__m256i *)lane, v);
  for (int i = 0; i < 8; i++) sum += lane[i];
  return sum;
}
#else  // the compiler vectorizes as it can
typedef uint32_t vec;
#define LANES 1
#define LOAD(x) (*(x))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define ADD(a, b) ((a) + (b))
#define ZERO 0
#define HOLD(x)
static inline uint32_t total(vec v) { return v; }
#endif

#define LINE(x, a, b, c, d) \
  v = LOAD(x);              \
  HOLD(v);                  \
  a = ADD(a, MIN(v, y0)), b = ADD(b, MIN(v, y1)), c = ADD(c, MIN(v, y2)), d = ADD(d, MIN(v, y3))
#define KEEP(a, b, c, d) out[0] += total(a), out[1] += total(b), out[2] += total(c), out[3] += total(d)

// strip is (padded, width); width and length are multiples of 16, padded of 4; sums is (padded, padded).
void add_strip(const uint32_t *strip, int64_t width, int64_t length, int64_t padded, int64_t *sums) {
  for (int64_t p = 0; p < padded; p += 4)
    for (int64_t b = p; b < padded; b += 4) {
      vec s00 = ZERO, s01 = ZERO, s02 = ZERO, s03 = ZERO, s10 = ZERO, s11 = ZERO, s12 = ZERO, s13 = ZERO;
      vec s20 = ZERO, s21 = ZERO, s22 = ZERO, s23 = ZERO, s30 = ZERO, s31 = ZERO, s32 = ZERO, s33 = ZERO;
      const uint32_t *x = strip + p * width, *y = strip + b * width;
      for (int64_t t = 0; t < length; t += LANES) {
        vec y0 = LOAD(y + t), y1 = LOAD(y + width + t), y2 = LOAD(y + 2 * width + t), y3 = LOAD(y + 3 * width + t), v;
        HOLD(y0);
        HOLD(y1);
        HOLD(y2);
        HOLD(y3);
        LINE(x + t, s00, s01, s02, s03);
        LINE(x + width + t, s10, s11, s12, s13);
        LINE(x + 2 * width + t, s20, s21, s22, s23);
        LINE(x + 3 * width + t, s30, s31, s32, s33);
      }
      int64_t *out = sums + p * padded + b;
      KEEP(s00, s01, s02, s03);
      out += padded, KEEP(s10, s11, s12, s13);
      out += padded, KEEP(s20, s21, s22, s23);
      out += padded, KEEP(s30, s31, s32, s33);
    }
}
