// From PyTorch's weights to packed ones.
#include "model.hpp"

#include <cmath>
#include <stdexcept>

namespace sightline {

namespace {

// Hands out the weights one after the other.
class Given {
   public:
    Given(const float* const* weights, int count) : next_(weights), end_(weights + count) {}

    const float* next() {
        if (next_ == end_) throw std::invalid_argument("fewer weights than the shape asks for");
        return *next_++;
    }
    Norm norm(int dim) {
        const float *weight = next(), *bias = next();
        return {{weight, weight + dim}, {bias, bias + dim}};
    }
    void done() const {
        if (next_ != end_) throw std::invalid_argument("more weights than the shape asks for");
    }

   private:
    const float* const* next_;
    const float* const* end_;
};

// Several layers side by side that read the same, with a factor for the first outputs.
struct Joined {
    std::vector<float> weight, bias;

    void add(const float* some_weight, const float* some_bias, int outputs, int inputs, float factor = 1) {
        for (int i = 0; i < outputs * inputs; ++i) weight.push_back(some_weight[i] * factor);
        for (int i = 0; i < outputs; ++i) bias.push_back(some_bias[i] * factor);
    }
    Linear packed(int inputs, bool int8) const {
        return sightline::packed(weight.data(), bias.data(), (int)bias.size(), inputs, int8);
    }
};

std::shared_ptr<std::vector<float>> scaled(const float* table, size_t count, float scale) {
    auto made = std::make_shared<std::vector<float>>(table, table + count);
    for (float& value : *made) value *= scale;
    return made;
}

struct Maker {
    const Shape& shape;
    Given& given;
    const int dim = shape.dim;
    const bool int8 = shape.int8 != 0;

    Linear linear(int outputs, int inputs) {
        const float *weight = given.next(), *bias = given.next();
        return packed(weight, bias, outputs, inputs, int8);
    }
    // Queries are divided by the root of a head's width here, once for all.
    static float of_query(int dim, int heads) { return 1 / std::sqrt((float)(dim / heads)); }

    Linear query(int heads) {
        Joined joined;
        const float *weight = given.next(), *bias = given.next();
        joined.add(weight, bias, dim, dim, of_query(dim, heads));
        return joined.packed(dim, int8);
    }
    Linear query_key_value(int heads) {
        Joined joined;
        const float *weight = given.next(), *bias = given.next();
        joined.add(weight, bias, dim, dim, of_query(dim, heads));
        weight = given.next(), bias = given.next();
        joined.add(weight, bias, 2 * dim, dim);
        return joined.packed(dim, int8);
    }
    FeedForward feed(int hidden) {
        FeedForward made;
        made.norm = given.norm(dim);
        made.wide = linear(hidden, dim);
        made.back = linear(dim, hidden);
        return made;
    }
    EncoderLayer encoder_layer() {
        EncoderLayer made;
        made.norm = given.norm(dim);
        made.query_key_value = query_key_value(shape.encoder.heads);
        made.output = linear(dim, dim);
        made.feed = feed(shape.encoder.hidden);
        return made;
    }
    DecoderLayer decoder_layer() {
        DecoderLayer made;
        made.norm = given.norm(dim);
        made.query_key_value = query_key_value(shape.decoder.heads);
        made.output = linear(dim, dim);
        made.cross_norm = given.norm(dim);
        made.cross_query = query(shape.decoder.heads);
        made.cross_key_value = linear(2 * dim, dim);
        made.cross_output = linear(dim, dim);
        made.feed = feed(shape.decoder.hidden);
        return made;
    }
};

}  // namespace

Model::Model(const Shape& told, const float* const* weights, int count) : shape(told) {
    Given given(weights, count);
    Maker make{shape, given};
    const size_t dim = shape.dim;
    const float *source = given.next(), *target = given.next(), *output = given.next();
    source_table = scaled(source, shape.source_vocabulary * dim, shape.source_scale);
    const bool shared = source == target && shape.source_scale == shape.target_scale;
    target_table = shared ? source_table : scaled(target, shape.target_vocabulary * dim, shape.target_scale);
    words = packed(output, nullptr, shape.target_vocabulary, shape.dim, shape.int8);
    for (int i = 0; i < shape.encoder.layers; ++i) encoder.push_back(make.encoder_layer());
    if (shape.encoder.pre_norm) encoder_norm = given.norm(shape.dim);
    for (int i = 0; i < shape.decoder.layers; ++i) decoder.push_back(make.decoder_layer());
    if (shape.decoder.pre_norm) decoder_norm = given.norm(shape.dim);
    given.done();
}

}  // namespace sightline
