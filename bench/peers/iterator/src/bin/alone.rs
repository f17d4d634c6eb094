// The crate in the smallest program: one loop, one field used on the spot. What the compiler makes of its parser depends on
// how many places call it (a second one in ../main.rs took it from 36 to 14 million a second), so this stands alone.
use perf_event_open::config::{Cpu, Opts, Proc, SampleOn};
use perf_event_open::count::Counter;
use perf_event_open::event::sw::Software;
use perf_event_open::sample::record::Record;

fn cpu_time() -> f64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut t) };
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

fn main() {
    let mut opts = Opts::default();
    opts.sample_on = SampleOn::Count(1);
    opts.sample_format.code_addr = true;
    opts.sample_format.period = true;
    opts.record_id_format.id = true;
    opts.record_id_format.cpu = true;
    opts.record_id_format.task = true;
    opts.record_id_format.time = true;
    let counter = Counter::new(Software::PageFault, (Proc::CURRENT, Cpu::ALL), opts).unwrap();
    let sampler = counter.sampler(10).unwrap();
    let pages = 1000;
    let (mut best, mut sum, mut most) = (0.0f64, 0u64, 0u64);
    unsafe {
        let at = libc::mmap(std::ptr::null_mut(), pages * 4096, libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0) as *mut u8;
        libc::madvise(at as *mut _, pages * 4096, libc::MADV_NOHUGEPAGE);
        for _ in 0..3 {
            counter.enable().unwrap();
            for _ in 0..60 {
                for i in 0..pages {
                    at.add(i * 4096).write_volatile(1);
                }
                libc::madvise(at as *mut _, pages * 4096, libc::MADV_DONTNEED);
            }
            counter.disable().unwrap();
            let mut n = 0u64;
            let begin = cpu_time();
            let mut iter = sampler.iter();
            while let Some((_, record)) = iter.next() {
                if let Record::Sample(s) = record {
                    sum = sum.wrapping_add(s.code_addr.map_or(0, |a| a.0));
                    n += 1;
                }
            }
            best = best.max(n as f64 / (cpu_time() - begin) / 1e6);
            most = most.max(n);
        }
    }
    println!("small\tip\t{:.2}\t{}", best, most);
    std::hint::black_box(sum);
}
