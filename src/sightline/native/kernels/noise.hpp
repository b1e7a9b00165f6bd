// The random numbers of nn/noise.py, drawn where they are used: splitmix64 of (key of the sentence, place, position, channel).
#pragma once
#include <cstdint>

namespace sightline {

constexpr uint64_t GOLDEN = 0x9E3779B97F4A7C15u;

inline uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

struct Noise {
    const int64_t* keys;  // one for each sentence
    int64_t length;       // positions of a sentence
    int64_t offset;       // of its first position
    int64_t site;         // place in the network
    int64_t threshold;    // of 65,536: how many draws drop

    uint64_t row(int64_t number) const {
        const uint64_t key = uint64_t(keys[number / length]) + uint64_t(site + 1) * GOLDEN;
        return mix(mix(key) + uint64_t(offset + number % length) * GOLDEN);
    }
    float scale() const { return 65536.0f / float(65536 - threshold); }
    // The draws of one row, four to a number; `draws` has room for a multiple of four.
    void draw(int64_t number, int64_t channels, int16_t* draws) const {
        const uint64_t start = row(number);
        uint64_t* out = reinterpret_cast<uint64_t*>(draws);
        const int64_t groups = (channels + 3) / 4;
#pragma omp simd
        for (int64_t group = 0; group < groups; ++group) out[group] = mix(start + uint64_t(group + 1) * GOLDEN);
    }
    bool keeps(int16_t draw) const { return draw >= int32_t(threshold) - 32768; }
};

}  // namespace sightline
