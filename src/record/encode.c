/*
 * The records that a recorder makes up itself, and samples; see pen.h.
 */
#include "record/encode.h"

#include "record/pen.h"

int encode_mapping(const struct layout *layout, const struct rk_record *from,
                   const struct rk_mapping *mapping, void *buffer, size_t room)
{
    struct pen p = pen_begin(buffer, room);
    uint16_t misc = from->misc & (uint16_t)~RK_MISC_BUILD_ID;

    if (!mapping->path || mapping->build_id_bytes > 20)
        return -EINVAL;
    pen_i32(&p, mapping->pid);
    pen_i32(&p, mapping->tid);
    pen_u64(&p, mapping->start);
    pen_u64(&p, mapping->length);
    pen_u64(&p, mapping->file_offset);
    if (mapping->build_id_bytes) {
        misc |= RK_MISC_BUILD_ID;
        pen_u32(&p, mapping->build_id_bytes);
        pen_bytes(&p, mapping->build_id, mapping->build_id_bytes);
        pen_bytes(&p, NULL, 20 - mapping->build_id_bytes);
    } else {
        pen_u32(&p, mapping->major);
        pen_u32(&p, mapping->minor);
        pen_u64(&p, mapping->inode);
        pen_u64(&p, mapping->inode_generation);
    }
    pen_u32(&p, mapping->protection);
    pen_u32(&p, mapping->flags);
    pen_text(&p, mapping->path);
    pen_trailer(&p, layout, from);
    return pen_end(&p, RK_RECORD_MMAP2, misc);
}

int encode_comm(const struct layout *layout, const struct rk_record *from, const struct rk_comm *comm,
                void *buffer, size_t room)
{
    struct pen p = pen_begin(buffer, room);

    if (!comm->name)
        return -EINVAL;
    pen_i32(&p, comm->pid);
    pen_i32(&p, comm->tid);
    pen_text(&p, comm->name);
    pen_trailer(&p, layout, from);
    return pen_end(&p, RK_RECORD_COMM, from->misc);
}

int encode_task(const struct layout *layout, const struct rk_record *from, uint32_t type,
                const struct rk_task *task, void *buffer, size_t room)
{
    struct pen p = pen_begin(buffer, room);

    if (type != RK_RECORD_FORK && type != RK_RECORD_EXIT)
        return -EINVAL;
    pen_i32(&p, task->pid);
    pen_i32(&p, task->parent_pid);
    pen_i32(&p, task->tid);
    pen_i32(&p, task->parent_tid);
    pen_u64(&p, task->time);
    pen_trailer(&p, layout, from);
    return pen_end(&p, type, from->misc);
}

int encode_lost(const struct layout *layout, const struct rk_record *from, uint32_t type,
                const struct rk_lost *lost, void *buffer, size_t room)
{
    struct pen p = pen_begin(buffer, room);

    if (type != RK_RECORD_LOST && type != RK_RECORD_LOST_SAMPLES)
        return -EINVAL;
    if (type == RK_RECORD_LOST)
        pen_u64(&p, lost->id);
    pen_u64(&p, lost->count);
    pen_trailer(&p, layout, from);
    return pen_end(&p, type, from->misc);
}

/* Identifier … period, as decode_sample() reads them. */
static void pen_head(struct pen *p, uint64_t type, const struct rk_sample *s)
{
    if (type & RK_SAMPLE_IDENTIFIER)
        pen_u64(p, s->id);
    if (type & RK_SAMPLE_IP)
        pen_u64(p, s->ip);
    if (type & RK_SAMPLE_TID) {
        pen_i32(p, s->pid);
        pen_i32(p, s->tid);
    }
    if (type & RK_SAMPLE_TIME)
        pen_u64(p, s->time);
    if (type & RK_SAMPLE_ADDR)
        pen_u64(p, s->addr);
    if (type & RK_SAMPLE_ID)
        pen_u64(p, s->id);
    if (type & RK_SAMPLE_STREAM_ID)
        pen_u64(p, s->stream_id);
    if (type & RK_SAMPLE_CPU)
        pen_u64(p, s->cpu);
    if (type & RK_SAMPLE_PERIOD)
        pen_u64(p, s->period);
}

static void pen_branches(struct pen *p, const struct layout *layout, const struct rk_sample *s)
{
    pen_u64(p, s->branch_n);
    if (layout->branch_sample_type & BRANCH_HW_INDEX && s->branches)
        pen_u64(p, s->branch_hw_index);
    pen_words(p, s->branches, s->branch_n * 3);
    if (layout->branch_sample_type & BRANCH_COUNTERS)
        pen_words(p, s->branch_counters, s->branch_n);
}

static void pen_stack(struct pen *p, const struct rk_sample *s)
{
    pen_u64(p, s->stack_bytes);
    if (!s->stack_bytes)
        return;
    pen_bytes(p, s->stack, s->stack_bytes);
    pen_u64(p, s->stack_used);
}

/* Weight … code page size: fixed words but for the registers. */
static void pen_back(struct pen *p, const struct layout *layout, const struct rk_sample *s)
{
    uint64_t type = layout->sample_type;

    if (type & (RK_SAMPLE_WEIGHT | RK_SAMPLE_WEIGHT_STRUCT))
        pen_u64(p, s->weight);
    if (type & RK_SAMPLE_DATA_SRC)
        pen_u64(p, s->data_src);
    if (type & RK_SAMPLE_TRANSACTION)
        pen_u64(p, s->transaction);
    if (type & RK_SAMPLE_REGS_INTR) {
        pen_u64(p, s->regs_intr_abi);
        if (s->regs_intr_abi)
            pen_bytes(p, s->regs_intr, layout->regs_intr_bytes);
    }
    if (type & RK_SAMPLE_PHYS_ADDR)
        pen_u64(p, s->phys_addr);
    if (type & RK_SAMPLE_CGROUP)
        pen_u64(p, s->cgroup);
    if (type & RK_SAMPLE_DATA_PAGE_SIZE)
        pen_u64(p, s->data_page_size);
    if (type & RK_SAMPLE_CODE_PAGE_SIZE)
        pen_u64(p, s->code_page_size);
    if (type & RK_SAMPLE_AUX) {
        pen_u64(p, s->aux_bytes);
        pen_bytes(p, s->aux, s->aux_bytes);
        pen_align(p);
    }
}

/* Whether the sample has, in the right shape, what the layout says must be written. */
static int sample_fits(const struct layout *layout, const struct rk_sample *s)
{
    uint64_t type = layout->sample_type;

    /* Either weight is the same word. */
    uint64_t have = s->present;
    if (have & (RK_SAMPLE_WEIGHT | RK_SAMPLE_WEIGHT_STRUCT))
        have |= RK_SAMPLE_WEIGHT | RK_SAMPLE_WEIGHT_STRUCT;
    if (have & (RK_SAMPLE_ID | RK_SAMPLE_IDENTIFIER))
        have |= RK_SAMPLE_ID | RK_SAMPLE_IDENTIFIER;
    if (type & ~have)
        return -EINVAL;
    if ((type & RK_SAMPLE_CALLCHAIN && s->chain_n && !s->chain) ||
        (type & RK_SAMPLE_RAW && s->raw_bytes && !s->raw) ||
        (type & RK_SAMPLE_STACK_USER && s->stack_bytes && !s->stack) ||
        (type & RK_SAMPLE_AUX && s->aux_bytes && !s->aux))
        return -EINVAL;
    if (type & RK_SAMPLE_READ && (s->read_format != layout->read_format || !s->read_words))
        return -EINVAL;
    if (type & RK_SAMPLE_BRANCH_STACK && s->branch_n &&
        (!s->branches || (layout->branch_sample_type & BRANCH_COUNTERS && !s->branch_counters)))
        return -EINVAL;
    if (type & RK_SAMPLE_REGS_USER && s->regs_user_abi &&
        (!s->regs_user || s->regs_user_mask != layout->regs_user))
        return -EINVAL;
    if (type & RK_SAMPLE_REGS_INTR && s->regs_intr_abi &&
        (!s->regs_intr || s->regs_intr_mask != layout->regs_intr))
        return -EINVAL;
    if (type & RK_SAMPLE_STACK_USER && (s->stack_bytes % 8 || s->stack_used > s->stack_bytes))
        return -EINVAL;
    if (type & RK_SAMPLE_RAW && s->raw_bytes > UINT32_MAX)
        return -EMSGSIZE;
    if (s->branch_n > RECORD_BYTES_MAX || s->read_n > RECORD_BYTES_MAX)
        return -EMSGSIZE;
    return 0;
}

int encode_sample(const struct layout *layout, uint16_t misc, const struct rk_sample *sample, void *buffer,
                  size_t room)
{
    struct pen p = pen_begin(buffer, room);
    uint64_t type = layout->sample_type;
    int r = sample_fits(layout, sample);

    if (r < 0)
        return r;
    pen_head(&p, type, sample);
    if (type & RK_SAMPLE_READ)
        pen_words(&p, sample->read_words, sample_read_words(sample->read_format, sample->read_n));
    if (type & RK_SAMPLE_CALLCHAIN) {
        pen_u64(&p, sample->chain_n);
        pen_words(&p, sample->chain, sample->chain_n);
    }
    if (type & RK_SAMPLE_RAW) {
        pen_u32(&p, (uint32_t)sample->raw_bytes);
        pen_bytes(&p, sample->raw, sample->raw_bytes);
        pen_align(&p);
    }
    if (type & RK_SAMPLE_BRANCH_STACK)
        pen_branches(&p, layout, sample);
    if (type & RK_SAMPLE_REGS_USER) {
        pen_u64(&p, sample->regs_user_abi);
        if (sample->regs_user_abi)
            pen_bytes(&p, sample->regs_user, layout->regs_user_bytes);
    }
    if (type & RK_SAMPLE_STACK_USER)
        pen_stack(&p, sample);
    pen_back(&p, layout, sample);
    return pen_end(&p, RK_RECORD_SAMPLE, misc);
}
