#pragma once
#include <string>

namespace geo {
namespace detail {

inline constexpr int kLimit = 10;

}  // namespace detail

// A shape.
// Abstract.
class Shape : public Base {
 public:
  Shape();
  virtual ~Shape() = default;
  virtual double area() const = 0;
  double scale(double by) const { return by * size_; }
  bool operator==(const Shape& other) const;
  static constexpr int kSides = 4;

  struct Options {
    int depth = 0;
  };

 private:
  double size_;
};

template <typename T>
struct Box {
  T value;
  auto get() const -> T { return value; }
};

enum class Color : int { kRed, kGreen };

using Name = std::string;
typedef unsigned long ulong_t;

template <typename T, typename U = int>
T max_of(T a, T b) {
  return a > b ? a : b;
}

}  // namespace geo

namespace a::b {
void deep() {}
}

geo::Shape::Shape() : size_(0) {}

double geo::Shape::area() const {
  auto local = [] { return 1; };
  return 0;
}

std::ostream& operator<<(std::ostream& os, const geo::Shape& s) {
  return os;
}

static int counter = 0;

template <typename T>
concept Hashable = requires(T t) { t.hash(); };

extern "C" {
int c_entry(void);
}

#define FMT_ASSERT(x, m) ((void)0)
