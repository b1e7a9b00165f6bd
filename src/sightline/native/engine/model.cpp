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

// Several layers side by side that read the same; their outputs lie as heads do.
class Joined {
   public:
    Joined(const Heads& heads, int dim) : heads_(heads), dim_(dim) {}

    void add(const float* weight, const float* bias, float factor = 1) {
        const size_t first = bias_.size();
        bias_.resize(first + heads_.span());
        weight_.resize(bias_.size() * dim_);
        for (int channel = 0; channel < dim_; ++channel) {
            const size_t to = first + heads_.place(channel);
            bias_[to] = bias[channel] * factor;
            for (int i = 0; i < dim_; ++i) weight_[to * dim_ + i] = weight[(size_t)channel * dim_ + i] * factor;
        }
    }
    Linear packed(bool int8) const { return sightline::packed(weight_.data(), bias_.data(), (int)bias_.size(), dim_, int8); }

   private:
    const Heads& heads_;
    const int dim_;
    std::vector<float> weight_, bias_;
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
    void query(Joined& joined, const Heads& heads) {
        const float *weight = given.next(), *bias = given.next();
        joined.add(weight, bias, 1 / std::sqrt((float)heads.width));
    }
    void key_value(Joined& joined) {
        const float *weight = given.next(), *bias = given.next();
        joined.add(weight, bias);
        joined.add(weight + (size_t)dim * dim, bias + dim);
    }
    // What is found goes back into the order of the channels.
    Linear output(const Heads& heads) {
        const float *weight = given.next(), *bias = given.next();
        std::vector<float> turned((size_t)dim * heads.span());
        for (int n = 0; n < dim; ++n)
            for (int channel = 0; channel < dim; ++channel)
                turned[(size_t)n * heads.span() + heads.place(channel)] = weight[(size_t)n * dim + channel];
        return packed(turned.data(), bias, dim, heads.span(), int8);
    }
    Linear query_key_value(const Heads& heads) {
        Joined joined(heads, dim);
        query(joined, heads);
        key_value(joined);
        return joined.packed(int8);
    }
    FeedForward feed(int hidden) {
        FeedForward made;
        made.norm = given.norm(dim);
        made.wide = linear(hidden, dim);
        made.back = linear(dim, hidden);
        return made;
    }
    EncoderLayer encoder_layer(const Heads& heads) {
        EncoderLayer made;
        made.norm = given.norm(dim);
        made.query_key_value = query_key_value(heads);
        made.output = output(heads);
        made.feed = feed(shape.encoder.hidden);
        return made;
    }
    DecoderLayer decoder_layer(const Heads& heads) {
        DecoderLayer made;
        made.norm = given.norm(dim);
        made.query_key_value = query_key_value(heads);
        made.output = output(heads);
        made.cross_norm = given.norm(dim);
        Joined asked(heads, dim), found(heads, dim);
        query(asked, heads);
        key_value(found);
        made.cross_query = asked.packed(int8);
        made.cross_key_value = found.packed(int8);
        made.cross_output = output(heads);
        made.feed = feed(shape.decoder.hidden);
        return made;
    }
};

}  // namespace

Heads::Heads(int heads, int channels) : width(channels) {
    int fitting = 1;  // heads in a vector
    while (fitting < heads && fitting < LANES) fitting *= 2;
    lanes = LANES / fitting;
    vectors = (width + 2 * lanes - 1) / (2 * lanes) * 2;
    blocks = (heads + fitting - 1) / fitting;
}

int Heads::place(int channel) const {
    const int fitting = LANES / lanes, head = channel / width, rest = channel % width;
    return (head / fitting * vectors + rest / lanes) * LANES + head % fitting * lanes + rest % lanes;
}

Model::Model(const Shape& told, const float* const* weights, int count, Shortlist list)
    : shape(told),
      encoder_heads(told.encoder.heads, told.dim / told.encoder.heads),
      decoder_heads(told.decoder.heads, told.dim / told.decoder.heads) {
    Given given(weights, count);
    Maker make{shape, given};
    const size_t dim = shape.dim;
    const float *source = given.next(), *target = given.next(), *output = given.next();
    source_table = scaled(source, shape.source_vocabulary * dim, shape.source_scale);
    const bool shared = source == target && shape.source_scale == shape.target_scale;
    target_table = shared ? source_table : scaled(target, shape.target_vocabulary * dim, shape.target_scale);
    plain_words = quantised(output, nullptr, shape.target_vocabulary, shape.dim, shape.int8);
    shortlist = std::move(list);
    if (shortlist.empty()) {
        pack(plain_words, nullptr, shape.target_vocabulary, words);
        plain_words = {};
    }
    for (int i = 0; i < shape.encoder.layers; ++i) encoder.push_back(make.encoder_layer(encoder_heads));
    if (shape.encoder.pre_norm) encoder_norm = given.norm(shape.dim);
    for (int i = 0; i < shape.decoder.layers; ++i) decoder.push_back(make.decoder_layer(decoder_heads));
    if (shape.decoder.pre_norm) decoder_norm = given.norm(shape.dim);
    given.done();
}

}  // namespace sightline
