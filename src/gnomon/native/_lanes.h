/* Two doubles at once where the processor has that (SSE2, NEON), else one. A mask has all bits of a
   lane set, or none; tally() adds one to the lanes of a count whose bits are set. */
#ifndef GNOMON_LANES_H
#define GNOMON_LANES_H

#include <stdint.h>

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define LANES 2
typedef __m128d doubles_t;
typedef __m128i masks_t;
static inline doubles_t load(const double *at) { return _mm_loadu_pd(at); }
static inline doubles_t fill(double value) { return _mm_set1_pd(value); }
static inline doubles_t minus(doubles_t a, doubles_t b) { return _mm_sub_pd(a, b); }
static inline doubles_t magnitude(doubles_t a) { return _mm_andnot_pd(_mm_set1_pd(-0.0), a); }
static inline masks_t above(doubles_t a, doubles_t b) { return _mm_castpd_si128(_mm_cmpgt_pd(a, b)); }
static inline masks_t at_least(doubles_t a, doubles_t b) { return _mm_castpd_si128(_mm_cmpge_pd(a, b)); }
static inline masks_t both(masks_t a, masks_t b) { return _mm_and_si128(a, b); }
static inline masks_t either(masks_t a, masks_t b) { return _mm_or_si128(a, b); }
static inline masks_t unlike(masks_t a, masks_t b) { return _mm_xor_si128(a, b); }
static inline masks_t but_not(masks_t a, masks_t b) { return _mm_andnot_si128(b, a); }
static inline masks_t nothing(void) { return _mm_setzero_si128(); }
static inline masks_t tally(masks_t count, masks_t mask) { return _mm_sub_epi64(count, mask); }
static inline int64_t total(masks_t count) {
    int64_t lanes[2];
    _mm_storeu_si128((__m128i *)lanes, count);
    return lanes[0] + lanes[1];
}
#elif defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>
#define LANES 2
typedef float64x2_t doubles_t;
typedef uint64x2_t masks_t;
static inline doubles_t load(const double *at) { return vld1q_f64(at); }
static inline doubles_t fill(double value) { return vdupq_n_f64(value); }
static inline doubles_t minus(doubles_t a, doubles_t b) { return vsubq_f64(a, b); }
static inline doubles_t magnitude(doubles_t a) { return vabsq_f64(a); }
static inline masks_t above(doubles_t a, doubles_t b) { return vcgtq_f64(a, b); }
static inline masks_t at_least(doubles_t a, doubles_t b) { return vcgeq_f64(a, b); }
static inline masks_t both(masks_t a, masks_t b) { return vandq_u64(a, b); }
static inline masks_t either(masks_t a, masks_t b) { return vorrq_u64(a, b); }
static inline masks_t unlike(masks_t a, masks_t b) { return veorq_u64(a, b); }
static inline masks_t but_not(masks_t a, masks_t b) { return vbicq_u64(a, b); }
static inline masks_t nothing(void) { return vdupq_n_u64(0); }
static inline masks_t tally(masks_t count, masks_t mask) { return vsubq_u64(count, mask); }
static inline int64_t total(masks_t count) { return (int64_t)vaddvq_u64(count); }
#else
#include <math.h>
#define LANES 1
typedef double doubles_t;
typedef uint64_t masks_t;
static inline doubles_t load(const double *at) { return *at; }
static inline doubles_t fill(double value) { return value; }
static inline doubles_t minus(doubles_t a, doubles_t b) { return a - b; }
static inline doubles_t magnitude(doubles_t a) { return fabs(a); }
static inline masks_t above(doubles_t a, doubles_t b) { return (uint64_t)0 - (a > b); }
static inline masks_t at_least(doubles_t a, doubles_t b) { return (uint64_t)0 - (a >= b); }
static inline masks_t both(masks_t a, masks_t b) { return a & b; }
static inline masks_t either(masks_t a, masks_t b) { return a | b; }
static inline masks_t unlike(masks_t a, masks_t b) { return a ^ b; }
static inline masks_t but_not(masks_t a, masks_t b) { return a & ~b; }
static inline masks_t nothing(void) { return 0; }
static inline masks_t tally(masks_t count, masks_t mask) { return count - mask; }
static inline int64_t total(masks_t count) { return (int64_t)count; }
#endif
#endif
