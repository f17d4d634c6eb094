// The eight software events of bench/count.c by the crate perf-event-open, as its documentation shows a group: a library
// that the bench loads, so that both run in one process and in turns. One group at a time, in the thread that opened it.
use perf_event_open::config::{Cpu, Opts, Proc};
use perf_event_open::count::group::CounterGroup;
use perf_event_open::count::Counter;
use perf_event_open::event::sw::Software::{self, *};
use std::cell::RefCell;
use std::io::Result;

const SIBLINGS: [Software; 7] =
    [CpuClock, PageFault, MinorPageFault, MajorPageFault, CtxSwitch, CpuMigration, CgroupSwitch];

thread_local! {
    static GROUP: RefCell<Option<CounterGroup>> = const { RefCell::new(None) };
}

fn open() -> Result<CounterGroup> {
    let mut opts = Opts::default();
    opts.stat_format.time_enabled = true;
    opts.stat_format.time_running = true;
    opts.stat_format.siblings = true;
    let mut group = CounterGroup::from(Counter::new(TaskClock, (Proc::CURRENT, Cpu::ALL), opts)?);
    let sibling = Default::default();
    for event in SIBLINGS {
        group.add(event, &sibling)?;
    }
    Ok(group)
}

// 0, or -1 where there is no group or it fails.
fn with(what: impl FnOnce(&CounterGroup) -> Result<()>) -> i32 {
    GROUP.with_borrow(|group| match group {
        Some(group) if what(group).is_ok() => 0,
        _ => -1,
    })
}

#[no_mangle]
pub extern "C" fn peer_open() -> i32 {
    GROUP.with_borrow_mut(|group| {
        *group = open().ok();
        if group.is_some() { 0 } else { -1 }
    })
}

#[no_mangle]
pub extern "C" fn peer_toggle() -> i32 {
    with(|group| group.enable().and_then(|_| group.disable()))
}

#[no_mangle]
pub extern "C" fn peer_read() -> i32 {
    with(|group| {
        std::hint::black_box(group.leader().stat()?);
        Ok(())
    })
}

#[no_mangle]
pub extern "C" fn peer_close() -> i32 {
    GROUP.with_borrow_mut(|group| *group = None);
    0
}
