//! What this process costs its machine. Known on Linux only; elsewhere these figures are left out.

use std::fs;

/// Processor time so far, in seconds.
pub(super) fn cpu_seconds() -> Option<f64> {
    /// Linux counts in hundredths of a second.
    const TICKS: f64 = 100.0;
    /// Where the user's and the system's time stand after the name, which may itself hold spaces.
    const USER: usize = 11;
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let mut times = stat.rsplit(") ").next()?.split(' ').skip(USER).map(str::parse::<f64>);
    Some((times.next()?.ok()? + times.next()?.ok()?) / TICKS)
}

/// Memory in use, in bytes.
pub(super) fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().split(' ').next()?.parse().ok()?;
    Some(kib * 1024)
}
