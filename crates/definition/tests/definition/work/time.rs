//! The time that this thread has worked. Unlike the time on the clock, it does not grow while others have the processor.

use std::time::Duration;

pub(crate) struct Work(Duration);

impl Work {
    pub(crate) fn begin() -> Work {
        Work(worked())
    }

    pub(crate) fn so_far(&self) -> Duration {
        worked() - self.0
    }
}

fn worked() -> Duration {
    let file = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = file.split(' ').next().and_then(|first| first.parse().ok());
    // Where the system does not say, nothing is measured.
    Duration::from_nanos(nanoseconds.unwrap_or_default())
}
