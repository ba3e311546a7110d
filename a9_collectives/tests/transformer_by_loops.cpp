#include "a9_collectives/tests/transformer_by_loops.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace lab::a9 {
namespace {

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;  // of positions

Matrix rows(const at::Tensor& tensor) {
  Matrix matrix;
  for (std::int64_t i = 0; i < tensor.size(0); ++i) {
    const double* row = tensor[i].data_ptr<double>();
    matrix.emplace_back(row, row + tensor.size(1));
  }
  return matrix;
}

Vector numbers(const at::Tensor& tensor) {
  return Vector(tensor.data_ptr<double>(), tensor.data_ptr<double>() + tensor.numel());
}

double dot(const Vector& left, const Vector& right, std::size_t begin, std::size_t end) {
  double sum = 0;
  for (std::size_t i = begin; i < end; ++i) sum += left[i] * right[i];
  return sum;
}

Matrix linear(const Matrix& x, const Matrix& weight) {
  Matrix out;
  for (const Vector& position : x) {
    Vector row;
    for (const Vector& unit : weight) row.push_back(dot(position, unit, 0, unit.size()));
    out.push_back(row);
  }
  return out;
}

Matrix normed(Matrix x, const Vector& weight, const Vector& bias) {
  for (Vector& position : x) {
    const auto size = static_cast<double>(position.size());
    double mean = 0;
    for (const double value : position) mean += value / size;
    double variance = 0;
    for (const double value : position) variance += (value - mean) * (value - mean) / size;
    for (std::size_t i = 0; i < position.size(); ++i)
      position[i] = (position[i] - mean) / std::sqrt(variance + 1e-5) * weight[i] + bias[i];
  }
  return x;
}

Matrix attended(const Matrix& q, const Matrix& k, const Matrix& v, std::size_t num_heads) {
  const std::size_t head_dim = q[0].size() / num_heads;
  Matrix out(q.size(), Vector(q[0].size(), 0.0));
  for (std::size_t head = 0; head < num_heads; ++head) {
    const std::size_t begin = head * head_dim;
    for (std::size_t i = 0; i < q.size(); ++i) {
      Vector weights;
      double total = 0;
      for (const Vector& key : k) {
        const double score = dot(q[i], key, begin, begin + head_dim) / std::sqrt(static_cast<double>(head_dim));
        weights.push_back(std::exp(score));
        total += weights.back();
      }
      for (std::size_t j = 0; j < k.size(); ++j) {
        for (std::size_t c = begin; c < begin + head_dim; ++c) out[i][c] += weights[j] / total * v[j][c];
      }
    }
  }
  return out;
}

void add(Matrix& x, const Matrix& y) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t c = 0; c < x[i].size(); ++c) x[i][c] += y[i][c];
  }
}

}  // namespace

at::Tensor block_by_loops(const TransformerOptions& options, const TensorMap& weights, const at::Tensor& sequence) {
  const auto matrix = [&](const char* name) { return rows(weights.at(name)); };
  const auto vector = [&](const char* name) { return numbers(weights.at(name)); };
  Matrix x = rows(sequence);
  Matrix inner = normed(x, vector("ln1_weight"), vector("ln1_bias"));
  inner = attended(linear(inner, matrix("q_proj")), linear(inner, matrix("k_proj")), linear(inner, matrix("v_proj")),
                   static_cast<std::size_t>(options.num_heads));
  add(x, linear(inner, matrix("o_proj")));
  Matrix hidden = linear(normed(x, vector("ln2_weight"), vector("ln2_bias")), matrix("fc1"));
  add(hidden, Matrix(hidden.size(), vector("fc1_bias")));
  for (Vector& position : hidden) {
    for (double& value : position) value = std::max(value, 0.0);
  }
  add(x, linear(hidden, matrix("fc2")));
  add(x, Matrix(x.size(), vector("fc2_bias")));
  at::Tensor out = at::empty_like(sequence);
  for (std::size_t s = 0; s < x.size(); ++s) out[static_cast<std::int64_t>(s)].copy_(at::tensor(x[s], at::kDouble));
  return out;
}

}  // namespace lab::a9
