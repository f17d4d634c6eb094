// Samples of page faults, left in a ring of 4 MiB, then taken out by the crate's iterator: its best of three, in millions a
// second of CPU time. bench/iterator.c does the same. raw: the bytes of each record by into_cow(), nothing decoded; typed:
// each record as the crate's own struct, handed to code that the compiler can't look into (bin/alone.rs: one that it can).
// Without chains, and with them.
use perf_event_open::config::{CallChain, Cpu, Opts, Proc, SampleOn};
use perf_event_open::count::Counter;
use perf_event_open::event::sw::Software;
use perf_event_open::sample::record::Record;
use perf_event_open::sample::Sampler;

const PAGES: usize = 1000;

fn cpu_time() -> f64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut t) };
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

#[inline(never)]
fn fault_below(at: *mut u8, rounds: usize, depth: usize) -> usize {
    if depth > 0 {
        return std::hint::black_box(fault_below(at, rounds, depth - 1)) + 1;
    }
    for _ in 0..rounds {
        for i in 0..PAGES {
            unsafe { at.add(i * 4096).write_volatile(1) };
        }
        unsafe { libc::madvise(at as *mut _, PAGES * 4096, libc::MADV_DONTNEED) };
    }
    0
}

fn raw(sampler: &Sampler, sum: &mut u64) -> u64 {
    let mut iter = sampler.iter().into_cow();
    let mut n = 0;
    while let Some(byte) = iter.next(|chunk, _| chunk.as_bytes()[8]) {
        *sum = sum.wrapping_add(byte as u64);
        n += 1;
    }
    n
}

fn typed(sampler: &Sampler, sum: &mut u64) -> u64 {
    let mut n = 0;
    for (_, record) in sampler.iter() {
        if let Record::Sample(s) = std::hint::black_box(&record) {
            let frames = s.call_chain.as_ref().map_or(0, |c| c.len() as u64);
            *sum = sum.wrapping_add(s.code_addr.map_or(0, |a| a.0) + frames);
            n += 1;
        }
    }
    n
}

fn run(fields: &str, chains: bool, at: *mut u8, sum: &mut u64) {
    let mut opts = Opts::default();
    opts.sample_on = SampleOn::Count(1);
    opts.sample_format.code_addr = true;
    opts.sample_format.period = true;
    opts.record_id_format.id = true;
    opts.record_id_format.cpu = true;
    opts.record_id_format.task = true;
    opts.record_id_format.time = true;
    if chains {
        opts.sample_format.call_chain =
            Some(CallChain { exclude_user: false, exclude_kernel: false, defer_user: false, max_stack_frames: 0 });
    }
    let counter = Counter::new(Software::PageFault, (Proc::CURRENT, Cpu::ALL), opts).unwrap();
    let sampler = counter.sampler(10).unwrap();
    measure(fields, "raw", chains, at, &counter, &sampler, sum, raw);
    measure(fields, "typed", chains, at, &counter, &sampler, sum, typed);
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn measure(fields: &str, name: &str, chains: bool, at: *mut u8, counter: &Counter, sampler: &Sampler, sum: &mut u64,
    work: impl Fn(&Sampler, &mut u64) -> u64) {
    let (mut best, mut most) = (0.0f64, 0u64);
    for _ in 0..3 {
        counter.enable().unwrap();
        fault_below(at, if chains { 10 } else { 60 }, 16);
        counter.disable().unwrap();
        let begin = cpu_time();
        let n = work(sampler, sum);
        best = best.max(n as f64 / (cpu_time() - begin) / 1e6);
        most = most.max(n);
    }
    println!("{}\t{}\t{:.2}\t{}", fields, name, best, most);
}

fn main() {
    let mut sum = 0u64;
    let at = unsafe {
        libc::mmap(std::ptr::null_mut(), PAGES * 4096, libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0) as *mut u8
    };
    unsafe { libc::madvise(at as *mut _, PAGES * 4096, libc::MADV_NOHUGEPAGE) };
    run("small", false, at, &mut sum);
    run("chains", true, at, &mut sum);
    std::hint::black_box(sum);
}
