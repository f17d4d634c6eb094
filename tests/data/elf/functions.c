/* Two hundred functions of different lengths, for a program whose segments lie elsewhere in memory than in the file. */
#define ONE(n)                                         \
    __attribute__((noinline)) int function_##n(int x)  \
    {                                                  \
        for (int i = 0; i < 1##n % 7 + 1; i++)         \
            x = x * 1##n + (x >> (1##n % 13));         \
        return 1##n % 3 ? x : x * x + 1##n;            \
    }
#define TEN(n) ONE(n##0) ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) ONE(n##5) ONE(n##6) ONE(n##7) ONE(n##8) ONE(n##9)
TEN(0) TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9)
TEN(10) TEN(11) TEN(12) TEN(13) TEN(14) TEN(15) TEN(16) TEN(17) TEN(18) TEN(19)

const char constants[5000] = {1};

int _start(void)
{
    return function_00(1) + function_199(2);
}
