/*
 * Student's t distribution.
 */
#ifndef STATS_STUDENT_H
#define STATS_STUDENT_H

/* P(T > t), t ≥ 0, to ten digits and more also far out. */
double student_tail(double t, double df);

/* The t ≥ 0 with P(T > t) = tail, 0 < tail ≤ 1/2. */
double student_tail_inverse(double tail, double df);

#endif
