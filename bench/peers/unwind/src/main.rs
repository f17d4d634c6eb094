// The same stacks by framehop: reads what bench-unwind wrote, prints frames, frames a second from memory and warm.
use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{ExplicitModuleSectionInfo, FrameAddress, Module, Unwinder};
use object::{Object, ObjectSection};

struct Sample {
    pc: u64,
    sp: u64,
    bp: u64,
    at: usize,
    n: usize,
}

// CPU time, since other programs run too.
fn now() -> f64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut t) };
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

fn word(bytes: &[u8], at: &mut usize) -> u64 {
    let value = u64::from_le_bytes(bytes[*at..*at + 8].try_into().unwrap());
    *at += 8;
    value
}

fn module(path: &str, start: u64, end: u64, bias: u64) -> Option<Module<Vec<u8>>> {
    let data = std::fs::read(path).ok()?;
    let file = object::File::parse(&*data).ok()?;
    let section = |name: &str| file.section_by_name(name);
    let range = |name: &str| section(name).map(|s| s.address()..s.address() + s.size());
    let bytes = |name: &str| section(name).and_then(|s| s.data().ok()).map(|d| d.to_vec());
    let info = ExplicitModuleSectionInfo {
        base_svma: 0,
        text_svma: range(".text"),
        text: bytes(".text"),
        eh_frame_svma: range(".eh_frame"),
        eh_frame: bytes(".eh_frame"),
        eh_frame_hdr_svma: range(".eh_frame_hdr"),
        eh_frame_hdr: bytes(".eh_frame_hdr"),
        ..Default::default()
    };
    Some(Module::new(path.to_string(), start..end, bias, info))
}

fn main() {
    let path = std::env::args().nth(1).expect("a file of bench-unwind's");
    let data = std::fs::read(path).unwrap();
    let mut at = 0;
    let mut unwinder = UnwinderX86_64::<Vec<u8>>::new();
    for _ in 0..word(&data, &mut at) {
        let (start, end, bias) = (word(&data, &mut at), word(&data, &mut at), word(&data, &mut at));
        let n = word(&data, &mut at) as usize;
        let name = std::str::from_utf8(&data[at..at + n]).unwrap();
        at += n;
        if let Some(m) = module(name, start, end, bias) {
            unwinder.add_module(m);
        }
    }
    let samples: Vec<Sample> = (0..word(&data, &mut at))
        .map(|_| {
            let (pc, sp, bp) = (word(&data, &mut at), word(&data, &mut at), word(&data, &mut at));
            let n = word(&data, &mut at) as usize;
            at += n;
            Sample { pc, sp, bp, at: at - n, n }
        })
        .collect();
    let mut cache = CacheX86_64::<_>::new();
    let mut pass = |from: usize, to: usize| {
        let mut frames = 0u64;
        for s in &samples[from..to] {
            let stack = &data[s.at..s.at + s.n];
            let mut read = |address: u64| -> Result<u64, ()> {
                let at = address.wrapping_sub(s.sp) as usize;
                match stack.get(at..at.wrapping_add(8)) {
                    Some(b) => Ok(u64::from_le_bytes(b.try_into().unwrap())),
                    None => Err(()),
                }
            };
            let regs = UnwindRegsX86_64::new(s.pc, s.sp, s.bp);
            let mut iter = unwinder.iter_frames(s.pc, regs, &mut cache, &mut read);
            while let Ok(Some(frame)) = iter.next() {
                frames += matches!(frame, FrameAddress::InstructionPointer(_) | FrameAddress::ReturnAddress(_)) as u64;
            }
        }
        frames
    };
    let mut memory: f64 = 0.0;
    let mut frames = 0;
    for _ in 0..5 {
        let begin = now();
        frames = pass(0, samples.len());
        memory = memory.max(frames as f64 / (now() - begin));
    }
    let mut warm: f64 = 0.0;
    for _ in 0..5 {
        let begin = now();
        let mut n = 0;
        for _ in 0..500 {
            n += pass(samples.len() / 2, (samples.len() / 2 + 16).min(samples.len()));
        }
        warm = warm.max(n as f64 / (now() - begin));
    }
    println!("{}\t{:.0}\t{:.0}", frames, memory, warm);
}
