"""perf.data bytes, made by tests: of either byte order, as a file, a pipe, or the files of a directory.

    made = Recording(order="<")
    made.event(type=1, config=0, name="cpu-clock", ids=[7])
    made.mmap2(pid=5, start=0x400000, length=0x1000, path="/bin/x")
    made.sample(ip=0x400100, pid=5, time=10, id=7)
    open("perf.data", "wb").write(made.file())
"""
import struct

IP, TID, TIME, ADDR, READ, CALLCHAIN, ID, CPU, PERIOD = (1 << i for i in range(9))
STREAM_ID, RAW, BRANCH, REGS_USER, STACK_USER = (1 << i for i in range(9, 14))
IDENTIFIER = 1 << 16
PLAIN = IDENTIFIER | IP | TID | TIME | CPU | PERIOD
KERNEL, USER, GUEST_KERNEL, GUEST_USER = 1, 2, 4, 5
SAMPLE_ID_ALL = 1 << 18
# Features
TRACING_DATA, BUILD_ID, HOSTNAME, OSRELEASE, VERSION, ARCH = 1, 2, 3, 4, 5, 6
EVENT_DESC, SAMPLE_TIME = 12, 21


def padded(data, to=8):
    return data + b"\0" * (-len(data) % to)


class Recording:
    def __init__(self, order="<", sample_type=PLAIN, magic=b"PERFILE2"):
        self.order, self.sample_type, self.magic = order, sample_type, magic
        self.events, self.records, self.features = [], [], {}

    def pack(self, form, *values):
        return struct.pack(self.order + form, *values)

    def text(self, text):
        data = padded(text.encode() + b"\0", 64)
        return self.pack("I", len(data)) + data

    # Bit-fields begin at the other end of each byte on a big-endian machine.
    def flags(self, flags):
        data = struct.pack("<Q", flags)
        return data if self.order == "<" else bytes(int(f"{byte:08b}"[::-1], 2) for byte in data)

    def event(self, type=1, config=0, name=None, ids=(), flags=SAMPLE_ID_ALL, period=1, sample_type=None, read_format=0,
              branch=0):
        if sample_type is None:
            sample_type = self.sample_type
        attr = self.pack("IIQQQQ", type, 128, config, period, sample_type, read_format) + self.flags(flags)
        attr += self.pack("IIQQQ", 1, 0, 0, 0, branch)
        self.events.append((attr.ljust(128, b"\0"), list(ids), name, sample_type))

    def record(self, type, body, misc=0, size=None):
        size = 8 + len(body) if size is None else size
        self.records.append(self.pack("IHH", type, misc, size) + body)

    def trailer(self, pid, tid, time, id, cpu=0):
        out = b""
        if self.sample_type & TID:
            out += self.pack("II", pid, tid)
        if self.sample_type & TIME:
            out += self.pack("Q", time)
        if self.sample_type & ID:
            out += self.pack("Q", id)
        if self.sample_type & CPU:
            out += self.pack("II", cpu, 0)
        if self.sample_type & IDENTIFIER:
            out += self.pack("Q", id)
        return out

    def first_id(self):
        return self.events[0][1][0] if self.events[0][1] else 0

    def comm(self, pid, name, tid=None, time=0, misc=0):
        tid = pid if tid is None else tid
        body = self.pack("II", pid, tid) + padded(name.encode() + b"\0") + self.trailer(pid, tid, time, self.first_id())
        self.record(3, body, misc)

    def mmap(self, pid, start, length, path, offset=0, misc=USER, time=0):
        body = self.pack("iiQQQ", pid, pid, start, length, offset) + padded(path.encode() + b"\0")
        self.record(1, body + self.trailer(pid & 0xffffffff, pid & 0xffffffff, time, self.first_id()), misc)

    def mmap2(self, pid, start, length, path, offset=0, misc=USER, time=0, build_id=b"", inode=0):
        body = self.pack("iiQQQ", pid, pid, start, length, offset)
        if build_id:
            body += bytes([len(build_id), 0, 0, 0]) + build_id.ljust(20, b"\0")
            misc |= 0x4000
        else:
            body += self.pack("IIQQ", 8, 1, inode, 0)
        body += self.pack("II", 5, 2) + padded(path.encode() + b"\0")
        self.record(10, body + self.trailer(pid & 0xffffffff, pid & 0xffffffff, time, self.first_id()), misc)

    def sample(self, ip, pid=5, tid=None, time=1, id=None, cpu=0, period=1, chain=None, raw=None, branches=None, read=None,
               misc=USER, sample_type=None):
        t = self.sample_type if sample_type is None else sample_type
        tid = pid if tid is None else tid
        id = self.first_id() if id is None else id
        out = b""
        for bit, form, values in ((IDENTIFIER, "Q", [id]), (IP, "Q", [ip]), (TID, "II", [pid, tid]), (TIME, "Q", [time]),
                                  (ADDR, "Q", [0]), (ID, "Q", [id]), (STREAM_ID, "Q", [id]), (CPU, "II", [cpu, 0]),
                                  (PERIOD, "Q", [period])):
            if t & bit:
                out += self.pack(form, *values)
        if t & READ:
            out += self.pack(f"{len(read)}Q", *read)
        if t & CALLCHAIN:
            chain = chain or []
            out += self.pack(f"{len(chain) + 1}Q", len(chain), *chain)
        if t & RAW:
            data = raw or b""
            data += b"\0" * (-(len(data) + 4) % 8)
            out += self.pack("I", len(data)) + data
        if t & BRANCH:
            branches = branches or []
            out += self.pack("Q", len(branches))
            for source, target, flags in branches:
                out += self.pack("QQ", source, target) + self.branch_flags(flags)
        self.record(9, out, misc)

    # mispredicted, predicted, in_tx, abort, cycles …: from the top of the word on a big-endian machine
    def branch_flags(self, flags):
        if self.order == "<":
            return struct.pack("<Q", flags)
        word, at, top = 0, 0, 64
        for width in (1, 1, 1, 1, 16, 4, 2, 4, 3):
            top -= width
            word |= (flags >> at & (1 << width) - 1) << top
            at += width
        return struct.pack(">Q", word)

    def feature(self, bit, data):
        self.features[bit] = data

    def machine(self, host="box", kernel="6.1.0", arch="x86_64", tool="6.1"):
        for bit, text in ((HOSTNAME, host), (OSRELEASE, kernel), (VERSION, tool), (ARCH, arch)):
            self.feature(bit, self.text(text))

    def build_ids(self, *rows):  # (misc, build-id, path)
        out = b""
        for misc, build_id, path in rows:
            path = padded(path.encode() + b"\0", 64) + b"\0" * 4
            out += self.pack("IHH", 67, misc, 36 + len(path)) + self.pack("i", -1) + build_id.ljust(24, b"\0") + path
        self.feature(BUILD_ID, out)

    def names(self):
        out = self.pack("II", len(self.events), 128)
        for attr, ids, name, _ in self.events:
            out += attr + self.pack("I", len(ids)) + self.text(name or "") + self.pack(f"{len(ids)}Q", *ids)
        self.feature(EVENT_DESC, out)

    def data(self):
        return b"".join(self.records)

    def file(self, finished=True):
        if finished and HOSTNAME not in self.features:
            self.machine()
        if finished and any(name for _, _, name, _ in self.events):
            self.names()
        ids = [self.pack(f"{len(i)}Q", *i) for _, i, _, _ in self.events]
        at, attrs = 104, b""
        for (attr, i, _, _), data in zip(self.events, ids):
            attrs += attr + self.pack("QQ", at, len(data))
            at += len(data)
        data = self.data()
        data_at = at + len(attrs)
        bits = [0] * 4
        for bit in self.features if finished else ():
            bits[bit // 64] |= 1 << bit % 64
        head = self.magic if self.order == "<" or self.magic == b"PERFFILE" else self.magic[::-1]
        head += self.pack("QQQQQQQQ", 104, 144, at, len(attrs), data_at, len(data) if finished else 0, 0, 0)
        head += self.pack("4Q", *bits)
        out = head + b"".join(ids) + attrs + data
        if finished:
            table = len(out)
            at = table + 16 * len(self.features)
            sections, bodies = b"", b""
            for bit in sorted(self.features):
                sections += self.pack("QQ", at + len(bodies), len(self.features[bit]))
                bodies += self.features[bit]
            out += sections + bodies
        return out

    def pipe(self, front=b""):
        head = self.magic if self.order == "<" or self.magic == b"PERFFILE" else self.magic[::-1]
        out = head + self.pack("Q", 16)
        for attr, ids, _, _ in self.events:
            body = attr + self.pack(f"{len(ids)}Q", *ids)
            out += self.pack("IHH", 64, 0, 8 + len(body)) + body
        for bit, data in sorted(self.features.items()):
            if bit == BUILD_ID:
                out += data
            elif bit != TRACING_DATA:
                body = padded(self.pack("Q", bit) + data)
                out += self.pack("IHH", 80, 0, 8 + len(body)) + body
        if TRACING_DATA in self.features:
            data = self.features[TRACING_DATA]
            out += self.pack("IHHI", 66, 0, 12, len(data)) + padded(data)
        return out + front + self.data()


def tracing(systems, order="<"):
    """trace-cmd's form: {"sched": ["name: …"]}"""
    def pack(form, *values):
        return struct.pack(order + form, *values)
    out = b"\x17\x08\x44tracing0.6\0" + bytes([order == ">", 8]) + pack("I", 4096)
    for name in (b"header_page\0", b"header_event\0"):
        out += name + pack("Q", 4) + b"none"
    out += pack("I", 0) + pack("I", len(systems))
    for system, formats in systems.items():
        out += system.encode() + b"\0" + pack("I", len(formats))
        for text in formats:
            out += pack("Q", len(text)) + text.encode()
    return out + pack("I", 0) + pack("I", 0)
