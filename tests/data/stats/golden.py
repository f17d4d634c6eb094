#!/usr/bin/env python3
"""What scipy says of fixed data: the numbers that reckon/stats.h must give.

    golden.py            writes golden.txt to standard output
    golden.py --check    compares golden.txt beside it with what this scipy says: 0, 1, or 77 where there is no scipy

A line is a word and numbers: `cdf t df = value`, `quantile p df = value`, `summary values = figures`,
`welch values | reference's values = figures`, `holm p-values = adjusted`. Numbers read back the same.
Holm's procedure, which scipy 1.10 does not have, is written out; the ratio's interval is found by searching for
the roots of the statistic that it inverts.
"""
import math
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
T = (0.0, 1e-9, 0.001, 0.1, 0.5, 1.0, 1.96, 2.5, 4.0, 10.0, 40.0, 1000.0)
DF = (0.5, 1.0, 1.5, 2.0, 3.0, 4.7, 9.0, 18.3, 39.0, 40.0, 99.5, 1000.0, 1e5, 1e7)
P = (1e-12, 1e-6, 0.001, 0.025, 0.05, 0.3, 0.75, 0.975, 0.999)


def samples():
    """name → values: made from Python's own generator, whose sequence is fixed"""
    r = random.Random(4)
    yield [r.gauss(100, 5) for _ in range(10)]
    yield [r.gauss(103, 9) for _ in range(25)]
    yield [r.lognormvariate(3, 1) for _ in range(40)]
    yield [1e12 + r.randrange(50) for _ in range(12)]
    yield [1e12 + 20 + r.randrange(50) for _ in range(9)]
    yield [r.expovariate(1) for _ in range(3)] + [50.0]
    yield [3.0, 5.0]
    yield [float(r.randrange(4)) for _ in range(30)]
    yield [-1.5, 2.5, 0.25, 7.0, -3.0]
    yield [r.gauss(1e-9, 1e-12) for _ in range(15)]


def quantile(p, df):
    """scipy's cdf, inverted; its own ppf stops at eight digits (1.10)"""
    from scipy import optimize, stats
    near = stats.t.ppf(p, df)
    return optimize.brentq(lambda t: stats.t.cdf(t, df) - p if p < 0.5 else 1 - p - stats.t.sf(t, df),
                           near - abs(near) * 1e-3, near + abs(near) * 1e-3, xtol=1e-300, rtol=1e-14)


def numbers(values):
    return " ".join(repr(float(v)) for v in values)


def summary(values):
    import numpy
    a = numpy.array(values)
    n = len(a)
    mean = math.fsum(values) / n
    sd = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (n - 1))
    q1, median, q3 = numpy.percentile(a, (25, 50, 75))
    reach = 1.5 * (q3 - q1)
    outliers = int(((a < q1 - reach) | (a > q3 + reach)).sum())
    bound = quantile(0.975, n - 1) * sd / math.sqrt(n)
    return mean, sd, bound, a.min(), q1, median, q3, a.max(), outliers


def welch(b, a):
    import numpy
    from scipy import optimize, stats
    test = stats.ttest_ind(b, a, equal_var=False)
    v_a, v_b = numpy.var(a, ddof=1) / len(a), numpy.var(b, ddof=1) / len(b)
    df = (v_a + v_b) ** 2 / (v_a ** 2 / (len(a) - 1) + v_b ** 2 / (len(b) - 1))
    t = quantile(0.975, df)
    m_a, m_b = math.fsum(a) / len(a), math.fsum(b) / len(b)
    half = t * math.sqrt(v_a + v_b)
    ratio, low, high = m_b / m_a, math.nan, math.nan
    if m_a ** 2 > t ** 2 * v_a:
        def beyond(r):
            return (m_b - r * m_a) ** 2 - t ** 2 * (v_b + r * r * v_a)
        step = abs(half / m_a) + abs(ratio) * 1e-6
        while beyond(ratio - step) <= 0 or beyond(ratio + step) <= 0:
            step *= 2
        low = optimize.brentq(beyond, ratio - step, ratio, xtol=1e-300, rtol=1e-14)
        high = optimize.brentq(beyond, ratio, ratio + step, xtol=1e-300, rtol=1e-14)
    return m_b - m_a, m_b - m_a - half, m_b - m_a + half, ratio, low, high, test.statistic, df, test.pvalue


def holm(p):
    order = sorted(range(len(p)), key=lambda i: p[i])
    out, least = [0.0] * len(p), 0.0
    for rank, i in enumerate(order):
        least = max(least, min(1.0, (len(p) - rank) * p[i]))
        out[i] = least
    return out


def lines():
    from scipy import stats
    for df in DF:
        for t in T:
            yield f"cdf {numbers((-t, df))} = {numbers([stats.t.cdf(-t, df)])}"
        yield f"cdf {numbers((1.25, df))} = {numbers([stats.t.cdf(1.25, df)])}"
        for p in P:
            yield f"quantile {numbers((p, df))} = {numbers([quantile(p, df)])}"
    every = list(samples())
    for values in every:
        yield f"summary {numbers(values)} = {numbers(summary(values))}"
    for i, b in enumerate(every):
        for a in every[:i]:
            yield f"welch {numbers(b)} | {numbers(a)} = {numbers(welch(b, a))}"
    for p in ([0.01, 0.04, 0.03, 0.005], [0.5], [0.2, 0.2, 0.9, 1e-9, 0.013, 0.012, 0.011], [1.0, 1.0]):
        yield f"holm {numbers(p)} = {numbers(holm(p))}"


def check():
    try:
        import scipy
    except ImportError:
        print("python3-scipy is not installed")
        return 77
    with open(os.path.join(HERE, "golden.txt"), encoding="utf-8") as f:
        kept = f.read().splitlines()
    now = list(lines())
    wrong = abs(len(now) - len(kept))
    for a, b in zip(now, kept):
        given_a, _, got_a = a.partition(" = ")
        given_b, _, got_b = b.partition(" = ")
        x, y = map(float, got_a.split()), map(float, got_b.split())
        if given_a != given_b or not all(math.isclose(p, q, rel_tol=1e-9, abs_tol=1e-300) or p != p and q != q
                                         for p, q in zip(x, y)):
            print(f"scipy {scipy.__version__}: {a}\ngolden.txt: {b}")
            wrong += 1
    print(f"{len(now)} lines, {wrong} wrong, scipy {scipy.__version__}")
    return wrong != 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        sys.exit(check())
    print("\n".join(lines()))
