/*
 * Adds up a matrix by its rows and by its columns: the same sums, but each step down a column touches another cache line.
 * An answer of reckon-cookbook(7) asks which line misses the cache.
 *
 *     cc -O2 -g -o matrix matrix.c
 */
#include <stdio.h>

#define N 1024

static int matrix[N][N];

__attribute__((noinline)) static long by_rows(void)
{
    long sum = 0;
    for (int row = 0; row < N; row++)
        for (int column = 0; column < N; column++)
            sum += matrix[row][column];
    return sum;
}

__attribute__((noinline)) static long by_columns(void)
{
    long sum = 0;
    for (int column = 0; column < N; column++)
        for (int row = 0; row < N; row++)
            sum += matrix[row][column];
    return sum;
}

int main(void)
{
    for (int i = 0; i < N; i++)
        matrix[i][i] = i;
    printf("%ld %ld\n", by_rows(), by_columns());
    return 0;
}
