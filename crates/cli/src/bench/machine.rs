//! What a process costs its machine. Known on Linux only; elsewhere these figures are left out.

use std::fs;

/// Processor time of this process so far, in seconds.
pub(super) fn cpu_seconds() -> Option<f64> {
    cpu_seconds_of(std::process::id())
}

pub(super) fn cpu_seconds_of(process: u32) -> Option<f64> {
    /// Linux counts in hundredths of a second.
    const TICKS: f64 = 100.0;
    /// Where the user's and the system's time stand after the name, which may itself hold spaces.
    const USER: usize = 11;
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let mut times = stat.rsplit(") ").next()?.split(' ').skip(USER).map(str::parse::<f64>);
    Some((times.next()?.ok()? + times.next()?.ok()?) / TICKS)
}

/// Memory that this process uses, in bytes.
pub(super) fn resident_bytes() -> Option<u64> {
    resident_bytes_of(std::process::id())
}

pub(super) fn resident_bytes_of(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().split(' ').next()?.parse().ok()?;
    Some(kib * 1024)
}
