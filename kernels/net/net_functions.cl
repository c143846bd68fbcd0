// Functions of one number with the same bits on every device and processor: only additions, products, fma and moves of
// bits, in this order. src/net/net_points.cpp compiles this text too: NET_FUNCTION begins a function, NET_CALL(f) names
// one to be called.

// 1 / x. The magnitude of x counts as 2^-100 to 2^100. Four of Newton's steps from a guess that is within 12%.
NET_FUNCTION float net_reciprocal(float x) {
  const float raised = fabs(x) > 0x1p-100f ? fabs(x) : 0x1p-100f;
  const float size = raised < 0x1p100f ? raised : 0x1p100f;
  float r = as_float(0x7ef311c7 - as_int(size));
  r = fma(r, fma(-size, r, 1.0f), r);
  r = fma(r, fma(-size, r, 1.0f), r);
  r = fma(r, fma(-size, r, 1.0f), r);
  r = fma(r, fma(-size, r, 1.0f), r);
  return x < 0.0f ? -r : r;
}

// a / b, with one step that corrects the product.
NET_FUNCTION float net_quotient(float a, float b) {
  const float r = NET_CALL(net_reciprocal)(b);
  const float q = a * r;
  return fma(fma(-b, q, a), r, q);
}

// The square root; 0 below 0.
NET_FUNCTION float net_root(float x) {
  const float positive = x > 0x1p-100f ? x : 0.0f;
  const float size = x > 0x1p-100f ? x : 0x1p-100f;
  const float half_size = 0.5f * size;
  float r = as_float(0x5f3759df - (as_int(size) >> 1));
  r = r * fma(-(half_size * r), r, 1.5f);
  r = r * fma(-(half_size * r), r, 1.5f);
  r = r * fma(-(half_size * r), r, 1.5f);
  const float s = positive * r;
  return fma(fma(-s, s, positive), 0.5f * r, s);
}

// e^x for -87 to 88, the limits of x: 2^n e^r, with Taylor's series of e^r for |r| <= ln(2) / 2.
NET_FUNCTION float net_exponential(float x) {
  const float raised = x > -87.0f ? x : -87.0f;
  const float number = raised < 88.0f ? raised : 88.0f;
  const float n = (number * 0x1.715476p+0f + 0x1.8p23f) - 0x1.8p23f;
  const float r = fma(n, -0x1.7f7d1cp-20f, fma(n, -0x1.62e400p-1f, number));
  float sum = 0x1.a01a02p-13f;
  sum = fma(sum, r, 0x1.6c16c2p-10f);
  sum = fma(sum, r, 0x1.111112p-7f);
  sum = fma(sum, r, 0x1.555556p-5f);
  sum = fma(sum, r, 0x1.555556p-3f);
  sum = fma(sum, r, 0.5f);
  sum = fma(sum, r, 1.0f);
  sum = fma(sum, r, 1.0f);
  return sum * as_float(((int)n + 127) << 23);
}

NET_FUNCTION float net_sigmoid(float x) {
  return NET_CALL(net_reciprocal)(1.0f + NET_CALL(net_exponential)(-x));
}

NET_FUNCTION float net_tangent(float x) {
  return fma(-2.0f, NET_CALL(net_reciprocal)(1.0f + NET_CALL(net_exponential)(2.0f * x)), 1.0f);
}

// The error function within 2e-7 (M. Abramowitz, I. Stegun: Handbook of Mathematical Functions, 7.1.26).
NET_FUNCTION float net_error(float x) {
  const float t = NET_CALL(net_reciprocal)(fma(0.3275911f, fabs(x), 1.0f));
  float sum = 1.061405429f;
  sum = fma(sum, t, -1.453152027f);
  sum = fma(sum, t, 1.421413741f);
  sum = fma(sum, t, -0.284496736f);
  sum = fma(sum, t, 0.254829592f);
  const float result = fma(-(sum * t), NET_CALL(net_exponential)(-(x * x)), 1.0f);
  return x < 0.0f ? -result : result;
}
