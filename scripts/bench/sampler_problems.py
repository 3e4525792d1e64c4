# SPDX-License-Identifier: Apache-2.0
"""Test problems for the sampler benchmark. bench_samplers.cpp has the same ones and is checked against these.

Each is minimised; a result is the best value found minus the optimum ("regret"), for two objectives the hypervolume.

branin      (y - 5.1 x^2/(4 pi^2) + 5 x/pi - 6)^2 + 10 (1 - 1/(8 pi)) cos x + 10, x in [-5, 10], y in [0, 15];
            optimum 10/(8 pi).
hartmann6   -sum_i alpha_i exp(-sum_j A_ij (x_j - P_ij)^2) on [0, 1]^6 with the usual alpha, A, P;
            optimum -3.32236801141551.
rosenbrock5 sum_i 100 (x_{i+1} - x_i^2)^2 + (1 - x_i)^2 on [-5, 10]^5; optimum 0.
ackley10    Ackley's function (a = 20, b = 0.2, c = 2 pi) of x - s on [-32.768, 32.768]^10 with the shift
            s_i = -12 + 2.7 i, i = 0..9; optimum 0.
bits24      one of b_i in {2, 3, 4, 6, 8} bits for each of 24 layers: sum_i w_i 4^-b_i + mean(b), with the
            sensitivities w_i = 0.1 * 300^(i/23); the optimum is found layer by layer.
zdt1..zdt3  Zitzler, Deb, Thiele (2000) with 30 variables in [0, 1]: f1 = x_1, g = 1 + 9 mean(x_2..x_30), f2 = g h,
            h = 1 - sqrt(f1/g), 1 - (f1/g)^2, 1 - sqrt(f1/g) - f1/g sin(10 pi f1); hypervolume up to (1.1, 11).
choices50   50 parameters of 5 choices, the value is the mean index: for timing only.
"""

import math

BITS = [2, 3, 4, 6, 8]
ALPHA = [1.0, 1.2, 3.0, 3.2]
A = [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
P = [
    [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
    [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
    [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650],
    [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
]


def branin(p):
    x, y = p
    bowl = y - 5.1 * x * x / (4 * math.pi * math.pi) + 5 * x / math.pi - 6
    return bowl * bowl + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10


def hartmann6(x):
    return -sum(
        alpha * math.exp(-sum(a * (v - p) ** 2 for a, p, v in zip(row, centre, x)))
        for alpha, row, centre in zip(ALPHA, A, P)
    )


def rosenbrock5(x):
    return sum(100 * (b - a * a) ** 2 + (1 - a) ** 2 for a, b in zip(x, x[1:]))


def ackley10(x):
    z = [v - (-12 + 2.7 * i) for i, v in enumerate(x)]
    squares = sum(v * v for v in z) / len(z)
    waves = sum(math.cos(2 * math.pi * v) for v in z) / len(z)
    return -20 * math.exp(-0.2 * math.sqrt(squares)) - math.exp(waves) + 20 + math.e


def layer_cost(i, bits):
    return 0.1 * 300 ** (i / 23) * 4.0**-bits + bits / 24


def bits24(choices):
    return sum(layer_cost(i, BITS[c]) for i, c in enumerate(choices))


def zdt(kind):
    def function(x):
        g = 1 + 9 * sum(x[1:]) / (len(x) - 1)
        share = x[0] / g
        if kind == 1:
            return x[0], g * (1 - math.sqrt(share))
        if kind == 2:
            return x[0], g * (1 - share * share)
        return x[0], g * (1 - math.sqrt(share) - share * math.sin(10 * math.pi * x[0]))

    return function


def choices50(choices):
    return sum(choices) / 50


class Problem:
    """Ranges are (low, high) of a float or a number of choices; a function of a list of values or indices."""

    def __init__(self, function, ranges, trials, optimum=0.0, objectives=1):
        self.function, self.ranges, self.trials = function, ranges, trials
        self.optimum, self.objectives = optimum, objectives

    def point(self, k):
        """The k-th of the points at which the two programs are compared."""
        shares = [(0.37 * (k + 1) + 0.61 * (j + 1)) % 1.0 for j in range(len(self.ranges))]
        return [int(u * r) if isinstance(r, int) else r[0] + u * (r[1] - r[0]) for u, r in zip(shares, self.ranges)]


PROBLEMS = {
    "branin": Problem(branin, [(-5.0, 10.0), (0.0, 15.0)], 100, 10 / (8 * math.pi)),
    "hartmann6": Problem(hartmann6, [(0.0, 1.0)] * 6, 150, -3.32236801141551),
    "rosenbrock5": Problem(rosenbrock5, [(-5.0, 10.0)] * 5, 200),
    "ackley10": Problem(ackley10, [(-32.768, 32.768)] * 10, 200),
    "bits24": Problem(bits24, [5] * 24, 200, sum(min(layer_cost(i, b) for b in BITS) for i in range(24))),
    "zdt1": Problem(zdt(1), [(0.0, 1.0)] * 30, 1000, objectives=2),
    "zdt2": Problem(zdt(2), [(0.0, 1.0)] * 30, 1000, objectives=2),
    "zdt3": Problem(zdt(3), [(0.0, 1.0)] * 30, 1000, objectives=2),
    "choices50": Problem(choices50, [5] * 50, 300),
}


def hypervolume(points, reference=(1.1, 11.0)):
    """Area dominated by the points up to the reference, by a sweep in the first objective."""
    area, roof = 0.0, reference[1]
    for x, y in sorted(points):
        if x < reference[0] and y < roof:
            area += (reference[0] - x) * (roof - y)
            roof = y
    return area
