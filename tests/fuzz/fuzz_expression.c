/* DW_OP: the bytes are an expression. It ends, and reads nothing but the stack and registers that are known. */
#include "fuzz.h"

#include "unwind/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t *words = malloc(8 * sizeof *words), cfa = 0x7010, value = 1;
    struct stack stack = {(const unsigned char *)words, 0x7000, 8 * sizeof *words, size & 1};
    struct frame frame = {.known = 0xffff00ff};

    HOLDS(words);
    for (size_t i = 0; i < 8; i++)
        words[i] = 0x7000 + i * 8;
    for (size_t i = 0; i < CFI_COLUMNS; i++)
        frame.reg[i] = 0x7000 + i;
    for (int i = 0; i < 2; i++) {
        value = 1;
        int trouble =
            expression_value(cursor_of(data, size), &frame, &stack, i ? &cfa : NULL, 0x400000, &value);
        HOLDS(trouble == 0 || trouble == TROUBLE_CUT ||
              (trouble > 0 && trouble <= RK_UNWIND_BACKWARD && value == 1));
    }
    free(words);
    return 0;
}
