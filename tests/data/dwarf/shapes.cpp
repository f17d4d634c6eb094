// What C++ makes of debug information: templates, lambdas, local classes, namespaces, inlined members, cold parts.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace shapes {
namespace {
struct point {
    double x, y;
    double dot(const point &other) const { return x * other.x + y * other.y; }
};

template <typename T, int N> struct ring {
    T items[N];
    T &at(int i)
    {
        struct wrap { // a local class: its member's code lies outside of the function that has it
            static int around(int k) { return (k % N + N) % N; }
        };
        return items[wrap::around(i)];
    }
};
} // namespace

class base {
public:
    virtual ~base() = default;
    virtual double area() const = 0;
};

class circle : public base {
    double r;

public:
    explicit circle(double radius) : r(radius) {}
    double area() const override { return 3.14159 * r * r; }
};

class box : public base {
    point low, high;

public:
    box(point a, point b) : low(a), high(b) {}
    double area() const override
    {
        auto side = [](double p, double q) { return q > p ? q - p : p - q; };
        return side(low.x, high.x) * side(low.y, high.y);
    }
};

double sum(const std::vector<std::unique_ptr<base>> &all)
{
    double total = 0;
    for (const auto &one : all)
        total += one->area();
    return total;
}
} // namespace shapes

int main(int argc, char **argv)
{
    std::vector<std::unique_ptr<shapes::base>> all;
    std::map<std::string, int> names;
    shapes::ring<int, 7> ring{};
    for (int i = 0; i < argc + 20; i++) {
        if (i % 2)
            all.push_back(std::make_unique<shapes::circle>(i));
        else
            all.push_back(std::make_unique<shapes::box>(shapes::point{0, 0}, shapes::point{1.0 * i, 2}));
        names[std::string(argv[0]) + std::to_string(i)] += ring.at(i)++;
    }
    std::vector<int> values;
    for (auto &entry : names)
        values.push_back(entry.second + static_cast<int>(entry.first.size()));
    std::sort(values.begin(), values.end(), [](int a, int b) { return a > b; });
    try {
        if (values.at(argc + 1000) > 0)
            return 2;
    } catch (const std::out_of_range &) {
        std::printf("%f %d\n", shapes::sum(all), values.front());
    }
    return 0;
}
