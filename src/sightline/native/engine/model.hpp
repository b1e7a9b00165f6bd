// A Transformer's weights, packed for the engine.
#pragma once
#include <memory>
#include <vector>

#include "product.hpp"
#include "shortlist.hpp"

namespace sightline {

enum Activation : int32_t { RELU, GELU, GELU_TANH, SWISH };

// What is told about an encoder or a decoder. The same fields in the same order stand in decode/native_weights.py.
struct StackShape {
    int32_t layers, heads, hidden, pre_norm, activation;
};

struct Shape {
    int32_t dim, source_vocabulary, target_vocabulary, int8;
    float source_scale, target_scale;  // of the embeddings
    float epsilon;  // of the norms
    StackShape encoder, decoder;
};

// How the channels of all heads lie in vectors: a head has the same few lanes in each, so that all heads are summed at once and
// nothing is summed across a whole vector. Lanes that no channel needs are zero.
struct Heads {
    Heads(int heads, int width);
    int place(int channel) const;
    int span() const { return blocks * vectors * LANES; }

    int width;  // channels of a head
    int lanes;  // that a head has in each vector
    int vectors, blocks;  // vectors of a block, an even number; a block has as many heads as fit
};

struct Norm {
    std::vector<float> weight, bias;
};

struct FeedForward {
    Norm norm;
    Linear wide, back;
};

struct EncoderLayer {
    Norm norm;
    Linear query_key_value, output;
    FeedForward feed;
};

struct DecoderLayer {
    Norm norm;
    Linear query_key_value, output;
    Norm cross_norm;
    Linear cross_query, cross_key_value, cross_output;
    FeedForward feed;
};

struct Model {
    Shape shape;
    Heads encoder_heads, decoder_heads;
    std::shared_ptr<std::vector<float>> source_table, target_table;  // scaled; one where they are shared
    std::vector<EncoderLayer> encoder;
    std::vector<DecoderLayer> decoder;
    Norm encoder_norm, decoder_norm;  // empty where norms come last
    Linear words;  // the output layer
    Plain plain_words;  // the same before packing, where a shortlist takes some of it
    Shortlist shortlist;

    // The weights in the order in which decode/native_weights.py hands them over.
    Model(const Shape& shape, const float* const* weights, int count, Shortlist shortlist);
};

}  // namespace sightline
