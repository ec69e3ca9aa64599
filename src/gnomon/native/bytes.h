/* Bytes of text, 64 at a time: which of them are signs of some kind, the first byte lowest.
 *
 * SSE2 (every x86-64), NEON (every 64-bit ARM), or plain C; GNOMON_PLAIN asks for the latter.
 */
#ifndef GNOMON_BYTES_H
#define GNOMON_BYTES_H

#include <stdint.h>
#include <string.h>

#if !defined(GNOMON_PLAIN) && (defined(__SSE2__) || defined(_M_X64))
#include <emmintrin.h>
typedef __m128i bytes16;
static inline bytes16 bytes_at(const uint8_t *at) { return _mm_loadu_si128((const __m128i *)at); }
static inline bytes16 bytes_of(uint8_t value) { return _mm_set1_epi8((char)value); }
static inline bytes16 both(bytes16 a, bytes16 b) { return _mm_and_si128(a, b); }
static inline bytes16 either(bytes16 a, bytes16 b) { return _mm_or_si128(a, b); }
static inline bytes16 without(bytes16 a, bytes16 b) { return _mm_andnot_si128(b, a); }
static inline bytes16 is(bytes16 a, uint8_t value) { return _mm_cmpeq_epi8(a, bytes_of(value)); }
static inline bytes16 within(bytes16 a, uint8_t low, uint8_t high) {
    bytes16 above = _mm_sub_epi8(a, bytes_of(low));
    return _mm_cmpeq_epi8(_mm_min_epu8(above, bytes_of((uint8_t)(high - low))), above);
}
static inline uint64_t highest_bits(const bytes16 some[4]) {
    uint64_t low = (uint32_t)_mm_movemask_epi8(some[0]) | (uint32_t)_mm_movemask_epi8(some[1]) << 16;
    uint64_t high = (uint32_t)_mm_movemask_epi8(some[2]) | (uint32_t)_mm_movemask_epi8(some[3]) << 16;
    return low | high << 32;
}
#elif !defined(GNOMON_PLAIN) && defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
typedef uint8x16_t bytes16;
static inline bytes16 bytes_at(const uint8_t *at) { return vld1q_u8(at); }
static inline bytes16 bytes_of(uint8_t value) { return vdupq_n_u8(value); }
static inline bytes16 both(bytes16 a, bytes16 b) { return vandq_u8(a, b); }
static inline bytes16 either(bytes16 a, bytes16 b) { return vorrq_u8(a, b); }
static inline bytes16 without(bytes16 a, bytes16 b) { return vbicq_u8(a, b); }
static inline bytes16 is(bytes16 a, uint8_t value) { return vceqq_u8(a, bytes_of(value)); }
static inline bytes16 within(bytes16 a, uint8_t low, uint8_t high) {
    return vcleq_u8(vsubq_u8(a, bytes_of(low)), bytes_of((uint8_t)(high - low)));
}
static inline uint64_t highest_bits(const bytes16 some[4]) {
    static const uint8_t bits[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    bytes16 place = vld1q_u8(bits), sums[4];
    int i;
    for (i = 0; i < 4; i++) {
        int8x16_t sign = vshrq_n_s8(vreinterpretq_s8_u8(some[i]), 7);
        sums[i] = vandq_u8(vreinterpretq_u8_s8(sign), place);
    }
    sums[0] = vpaddq_u8(vpaddq_u8(sums[0], sums[1]), vpaddq_u8(sums[2], sums[3]));
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sums[0], sums[0])), 0);
}
#else
typedef struct { uint8_t of[16]; } bytes16;
#define EACH(expression)                                \
    bytes16 made;                                       \
    int i;                                              \
    for (i = 0; i < 16; i++) made.of[i] = (uint8_t)(expression); \
    return made
static inline bytes16 bytes_at(const uint8_t *at) { EACH(at[i]); }
static inline bytes16 both(bytes16 a, bytes16 b) { EACH(a.of[i] & b.of[i]); }
static inline bytes16 either(bytes16 a, bytes16 b) { EACH(a.of[i] | b.of[i]); }
static inline bytes16 without(bytes16 a, bytes16 b) { EACH(a.of[i] & ~b.of[i]); }
static inline bytes16 is(bytes16 a, uint8_t value) { EACH(a.of[i] == value ? 255 : 0); }
static inline bytes16 bytes_of(uint8_t value) { EACH(value); }
static inline bytes16 within(bytes16 a, uint8_t low, uint8_t high) {
    EACH(a.of[i] >= low && a.of[i] <= high ? 255 : 0);
}
#undef EACH
static inline uint64_t highest_bits(const bytes16 some[4]) {
    uint64_t made = 0;
    int i;
    for (i = 0; i < 64; i++) made |= (uint64_t)(some[i >> 4].of[i & 15] >> 7) << i;
    return made;
}
#endif

/* Tells the processor what will be read soon. */
#if defined(__GNUC__) || defined(__clang__)
#define SOON(at) __builtin_prefetch(at)
#elif defined(_M_X64)
#define SOON(at) _mm_prefetch((const char *)(at), _MM_HINT_T0)
#else
#define SOON(at) ((void)(at))
#endif

/* How many bits are set: plain, for no processor must have an instruction for it. */
static inline int ones(uint64_t bits) {
    bits -= bits >> 1 & 0x5555555555555555u;
    bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
    bits = (bits + (bits >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
    return (int)(bits * 0x0101010101010101u >> 56);
}

/* The place of the lowest bit that is set, of which there is one. */
static inline int lowest(uint64_t bits) {
#if defined(__GNUC__) || defined(__clang__)
    return __builtin_ctzll(bits);
#else
    return ones(~bits & (bits - 1));
#endif
}

/* Which of 64 bytes are white space of one byte, newlines, and part of a character of several. */
typedef struct { uint64_t space, line, wide; } Blanks;

static inline Blanks blanks_at(const uint8_t *at) {
    bytes16 space[4], line[4], wide[4];
    Blanks found;
    int i;
    for (i = 0; i < 4; i++) {
        bytes16 some = bytes_at(at + 16 * i);
        space[i] = either(within(some, 9, 13), within(some, 28, 32));
        line[i] = is(some, '\n');
        wide[i] = some;
    }
    found.space = highest_bits(space);
    found.line = highest_bits(line);
    found.wide = highest_bits(wide);
    return found;
}

/* Which of 64 bytes begin white space of several bytes, with the byte that follows. */
static inline uint64_t wide_blanks_at(const uint8_t *at) {
    bytes16 found[4];
    int i;
    for (i = 0; i < 4; i++) {
        bytes16 some = bytes_at(at + 16 * i), next = bytes_at(at + 16 * i + 1);
        bytes16 two = both(is(some, 0xC2), either(is(next, 0x85), is(next, 0xA0)));
        bytes16 ogham = both(is(some, 0xE1), is(next, 0x9A));
        bytes16 general = both(is(some, 0xE2), within(next, 0x80, 0x81));
        bytes16 wide = both(is(some, 0xE3), is(next, 0x80));
        found[i] = either(either(two, ogham), either(general, wide));
    }
    return highest_bits(found);
}

/* Which of 64 bytes are punctuation marks of ASCII, which of these are an apostrophe, a dot or
 * comma, or a hyphen, and which bytes are digits. */
typedef struct { uint64_t mark, quote, dot, hyphen, digit; } Signs;

static inline Signs signs_at(const uint8_t *at) {
    bytes16 mark[4], quote[4], dot[4], hyphen[4], digit[4];
    Signs found;
    int i;
    for (i = 0; i < 4; i++) {
        bytes16 some = bytes_at(at + 16 * i);
        bytes16 letter = within(either(some, bytes_of(32)), 'a', 'z');
        digit[i] = within(some, '0', '9');
        mark[i] = without(within(some, 33, 126), either(letter, digit[i]));
        quote[i] = is(some, '\'');
        hyphen[i] = is(some, '-');
        dot[i] = without(within(some, ',', '.'), hyphen[i]);
    }
    found.mark = highest_bits(mark);
    found.quote = highest_bits(quote);
    found.dot = highest_bits(dot);
    found.hyphen = highest_bits(hyphen);
    found.digit = highest_bits(digit);
    return found;
}

/* Eight bytes, the first one lowest, whatever the processor's order. */
static inline uint64_t eight_at(const uint8_t *at) {
    uint64_t made;
    memcpy(&made, at, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    made = __builtin_bswap64(made);
#endif
    return made;
}

/* A hash of some bytes, none but these being read: equal bytes have equal ones. */
static inline uint64_t hash_of(const uint8_t *at, int64_t size) {
    const uint64_t by = 0x9E3779B97F4A7C15u;
    uint64_t lanes[4] = {(uint64_t)size, 0xC2B2AE3D27D4EB4Fu, 0x165667B19E3779F9u, by};
    const uint8_t *end = at + size;
    int k;
    if (size < 8) {
        for (; at < end; at++) lanes[0] = (lanes[0] ^ *at) * by;
    } else {
        for (; end - at > 32; at += 32) {
            for (k = 0; k < 4; k++) {
                lanes[k] = (lanes[k] ^ eight_at(at + 8 * k)) * by;
                lanes[k] ^= lanes[k] >> 29;
            }
        }
        for (k = 0; end - at > 8; at += 8, k++) lanes[k] = (lanes[k] ^ eight_at(at)) * by;
        lanes[3] = (lanes[3] ^ eight_at(end - 8)) * by; /* some of it again, perhaps */
    }
    for (k = 1; k < 4; k++) lanes[0] = ((lanes[0] ^ lanes[0] >> 32) * by) ^ lanes[k];
    lanes[0] = (lanes[0] ^ lanes[0] >> 29) * 0xC2B2AE3D27D4EB4Fu;
    return lanes[0] ^ lanes[0] >> 32;
}

/* Whether some UTF-8 holds a newline, "&" or "<"; up to 15 bytes behind it are read. */
static inline int holds_special(const uint8_t *at, int64_t size) {
    int64_t i;
    for (i = 0; i < size; i += 64) {
        bytes16 found[4];
        uint64_t bits;
        int k;
        for (k = 0; k < 4; k++) {
            bytes16 some = bytes_at(at + i + 16 * k);
            found[k] = either(either(is(some, '\n'), is(some, '&')), is(some, '<'));
        }
        bits = highest_bits(found);
        if (size - i < 64) bits &= ((uint64_t)1 << (size - i)) - 1;
        if (bits) return 1;
    }
    return 0;
}

/* The characters of a string of Python (of one, two or four bytes each) as UTF-8, lone surrogates
 * like any other character. Takes four bytes of room for each, and 16 more; returns what is used. */
static inline uint8_t *utf8_of_one(const uint8_t *from, int64_t length, uint8_t *to) {
    int64_t i = 0;
    while (i < length) {
        while (i + 8 <= length) {
            uint64_t some;
            memcpy(&some, from + i, 8);
            memcpy(to, &some, 8);
            if (some & 0x8080808080808080u) break;
            i += 8, to += 8;
        }
        for (; i < length; i++) {
            uint8_t code = from[i];
            if (code >= 0x80) {
                to[0] = (uint8_t)(0xC0 | code >> 6), to[1] = (uint8_t)(0x80 | (code & 0x3F));
                i++, to += 2;
                break;
            }
            *to++ = code;
        }
    }
    return to;
}

static inline uint8_t *utf8_of_character(uint32_t code, uint8_t *to) {
    if (code < 0x80) {
        *to++ = (uint8_t)code;
    } else if (code < 0x800) {
        *to++ = (uint8_t)(0xC0 | code >> 6);
        *to++ = (uint8_t)(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        *to++ = (uint8_t)(0xE0 | code >> 12);
        *to++ = (uint8_t)(0x80 | (code >> 6 & 0x3F));
        *to++ = (uint8_t)(0x80 | (code & 0x3F));
    } else {
        *to++ = (uint8_t)(0xF0 | code >> 18);
        *to++ = (uint8_t)(0x80 | (code >> 12 & 0x3F));
        *to++ = (uint8_t)(0x80 | (code >> 6 & 0x3F));
        *to++ = (uint8_t)(0x80 | (code & 0x3F));
    }
    return to;
}

static inline uint8_t *utf8_of_two(const uint16_t *from, int64_t length, uint8_t *to) {
    int64_t i = 0;
    while (i < length) {
        while (i + 8 <= length) {
            uint64_t some[2];
            int k;
            memcpy(some, from + i, 16);
            if ((some[0] | some[1]) & 0xFF80FF80FF80FF80u) break;
            for (k = 0; k < 8; k++) to[k] = (uint8_t)from[i + k];
            i += 8, to += 8;
        }
        /* a character of several bytes seldom comes alone in what is not ASCII */
        while (i < length && from[i] < 0x80) *to++ = (uint8_t)from[i++];
        while (i < length && from[i] >= 0x80) to = utf8_of_character(from[i++], to);
    }
    return to;
}

static inline uint8_t *utf8_of_four(const uint32_t *from, int64_t length, uint8_t *to) {
    int64_t i;
    for (i = 0; i < length; i++) to = utf8_of_character(from[i], to);
    return to;
}

#endif
