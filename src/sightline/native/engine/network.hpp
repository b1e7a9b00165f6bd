// The encoder and one step of the decoder, for rows of many sentences at once. No row is padding.
#pragma once
#include "layers.hpp"
#include "sentence.hpp"

namespace sightline {

// What is added to embeddings, a row per position; none where `values` is null.
struct Positions {
    const float* values;
    int reach;
};

// Room for what a pass computes on its way.
struct Workspace {
    void reserve(const Model& model, int rows);

    int stride = 0, wide_stride = 0;
    Buffer<float> states, wide, line, scores;
    std::vector<const void*> keys, next_keys;
    Rows narrow, broad;  // operands as wide as a state, and as the feed-forward layers inside
};

// A source to be read.
struct Source {
    const int32_t* tokens;
    int length;
    Sentence* sentence;  // gets keys and values
};

void encode(const Model& model, const Positions& positions, const std::vector<Source>& sources, Workspace& work);

// A hypothesis to be continued.
struct Live {
    Sentence* sentence;
    int hypothesis;
};

// Reads each hypothesis' last token; `work.narrow` then holds what the output layer reads.
void step(const Model& model, const Positions& positions, const std::vector<Live>& rows, Workspace& work);

}  // namespace sightline
