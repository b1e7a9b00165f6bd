// A sentence while it is being translated: what is remembered of its source and of its hypotheses.
#pragma once
#include "beam.hpp"
#include "model.hpp"

namespace sightline {

class Sentence {
   public:
    void start(const Model& model, int number, const Options& options, int source_length, int limit, const int32_t* prefix,
               int prefix_length) {
        number_ = number, source_length_ = source_length, width_ = options.width;
        stride_ = (size_t)2 * model.decoder_heads.span() * (model.shape.int8 ? Short::BYTES : Full::BYTES);
        positions_ = std::max(limit, prefix_length) + 1;
        beam.start(options, limit, prefix, prefix_length);
        source_.reserve(stride_ * model.shape.decoder.layers * source_length);
        past_.reserve(stride_ * model.shape.decoder.layers * positions_ * width_);
    }
    int number() const { return number_; }
    int source_length() const { return source_length_; }
    size_t stride() const { return stride_; }  // bytes of keys and values of one place; int8 keeps them shortened

    // Keys, then values, of one source token in one layer.
    char* source(int layer, int place) { return source_.get() + ((size_t)layer * source_length_ + place) * stride_; }
    // Keys, then values, of one entry of the cache. Hypotheses share entries: which are whose, `beam.ancestors` says.
    char* past(int layer, int position, int entry) {
        return past_.get() + (((size_t)layer * positions_ + position) * width_ + entry) * stride_;
    }

    Beam beam;
    // The output layer for this sentence alone, and which tokens it stands for, where there is a shortlist.
    Linear words;
    std::vector<int32_t> names;

   private:
    int number_ = 0, source_length_ = 0, width_ = 0, positions_ = 0;
    size_t stride_ = 0;
    Buffer<char> source_, past_;
};

}  // namespace sightline
