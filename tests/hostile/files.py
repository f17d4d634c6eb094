"""ELF, DWARF and perf.data files by the byte: as small as they can be, and as wrong as a row of run wants them."""
import struct

LOAD, NOTE, EH_FRAME = 1, 4, 0x6474E550
IP, TID, TIME, CALLCHAIN, RAW, REGS_USER, STACK_USER = 1, 2, 4, 1 << 5, 1 << 10, 1 << 12, 1 << 13


def segment(kind, flags, offset, address, size):
    return struct.pack("<IIQQQQQQ", kind, flags, offset, address, address, size, size, 4096)


def elf(path, sections, segments, size=0):
    """sections: (name, type, flags, address, bytes or (offset, size), link, entry size). A hole up to `size`."""
    names, rows, blocks = b"\0", [bytes(64)], []
    at = 64 + 56 * len(segments)
    for name, kind, flags, address, data, link, entry in sections + [(".shstrtab", 3, 0, 0, None, 0, 0)]:
        number, names = len(names), names + name.encode() + b"\0"
        data = names if data is None else data
        if isinstance(data, bytes):
            at = (at + 15) & ~15
            blocks.append((at, data))
            data, at = (at, len(data)), at + len(data)
        rows.append(struct.pack("<IIQQQQIIQQ", number, kind, flags, address, *data, link, 0, 1, entry))
    at = (at + 15) & ~15
    head = b"\x7fELF\2\1\1".ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, 0, 64 if segments else 0, at, 0, 64, 56, len(segments), 64, len(rows), len(rows) - 1)
    with open(path, "wb") as f:
        f.truncate(max(size, at + 64 * len(rows)))
        for offset, data in blocks + [(0, head + b"".join(segments)), (at, b"".join(rows))]:
            f.seek(offset)
            f.write(data)
    return path


def text(address=0x1000, size=0x1000):
    """.text, as the first section."""
    return (".text", 1, 6, address, b"\x90" * size, 0, 0)


def symbols(rows, names, number):
    """.symtab and .strtab as sections number `number` and the next; rows: (name's offset, address, size)."""
    table = bytes(24) + b"".join(struct.pack("<IBBHQQ", name, 0x12, 0, 1, address, size) for name, address, size in rows)
    return [(".symtab", 2, 0, 0, table, number + 1, 24), (".strtab", 3, 0, 0, names, 0, 0)]


def healthy(path):
    """What has a name whatever lies beside it."""
    return elf(path, [text()] + symbols([(1, 0x1000, 0x1000)], b"\0healthy\0", 2), [segment(LOAD, 5, 0, 0, 0x3000)])


def attr(kind=1, config=0, sample=IP | TID | TIME, registers=0, stack=0, flags=0):
    b = bytearray(128)
    struct.pack_into("<IIQQQQQ", b, 0, kind, 128, config, 1000, sample, 0, flags)
    struct.pack_into("<QI", b, 80, registers, stack)
    return bytes(b)


def record(kind, body, misc=2):
    body += bytes(-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def mmap(pid, start, size, path, offset=0, inode=0):
    name = path.encode() + b"\0"
    if inode:
        return record(10, struct.pack("<iiQQQIIQQII", pid, pid, start, size, offset, 8, 1, inode, 0, 5, 2) + name)
    return record(1, struct.pack("<iiQQQ", pid, pid, start, size, offset) + name)


def task(kind, pid, tid, parent, time=0):
    return record(kind, struct.pack("<iiiiQ", pid, parent, tid, parent, time))


def fork(pid, parent):
    return task(7, pid, pid, parent)


def sample(ip, pid, time, more=b"", tid=0):
    return record(9, struct.pack("<QiiQ", ip, pid, tid or pid, time) + more)


def perfdata(path, attrs, records, features=()):
    """features: {bit: bytes}."""
    features = dict(features)
    data = records if isinstance(records, bytes) else b"".join(records)
    head, at = bytearray(104), 104 + 144 * len(attrs)
    out = b"".join(a + bytes(16) for a in attrs) + data
    bits, place, table, bodies = [0] * 4, 104 + len(out) + 16 * len(features), b"", b""
    for bit in sorted(features):
        bits[bit // 64] |= 1 << bit % 64
        table += struct.pack("<QQ", place, len(features[bit]))
        place, bodies = place + len(features[bit]), bodies + features[bit]
    struct.pack_into("<9Q", head, 0, 0x32454C4946524550, 104, 144, 104, 144 * len(attrs), at, len(data), 0, 0)
    struct.pack_into("<4Q", head, 72, *bits)
    with open(path, "wb") as f:
        f.write(bytes(head) + out + table + bodies)
    return path


def uleb(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def wire(number, value):
    """A field of protobuf: bytes or a number."""
    if isinstance(value, bytes):
        return uleb(number << 3 | 2) + uleb(len(value)) + value
    return uleb(number << 3) + uleb(value)
