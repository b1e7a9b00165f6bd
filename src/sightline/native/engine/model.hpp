// A Transformer's weights, packed for the engine.
#pragma once
#include <memory>
#include <vector>

#include "product.hpp"

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
    std::shared_ptr<std::vector<float>> source_table, target_table;  // scaled; one where they are shared
    std::vector<EncoderLayer> encoder;
    std::vector<DecoderLayer> decoder;
    Norm encoder_norm, decoder_norm;  // empty where norms come last
    Linear words;  // the output layer

    // The weights in the order in which decode/native_weights.py hands them over.
    Model(const Shape& shape, const float* const* weights, int count);
};

}  // namespace sightline
