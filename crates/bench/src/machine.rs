//! What a process costs its machine. Known on Linux only; elsewhere these figures are left out.

use std::fs;

/// Processor time of this process so far, in seconds.
pub(super) fn cpu_seconds() -> Option<f64> {
    cpu_seconds_of(std::process::id())
}

pub(super) fn cpu_seconds_of(process: u32) -> Option<f64> {
    let stat = Stat::of(process)?;
    Some(stat.seconds(Stat::USER)? + stat.seconds(Stat::SYSTEM)?)
}

/// Processor time of a server that has a process for each connection, of which this is one: of all it has started, and
/// of those that have ended since. `None` if there is no such process of this name here.
pub(super) fn family_cpu_seconds(process: u32, name: &str) -> Option<f64> {
    let parent = Stat::of(process).filter(|stat| stat.name() == Some(name))?.parent()?;
    let server = Stat::of(parent).filter(|stat| stat.name() == Some(name))?;
    let ended = server.seconds(Stat::ENDED_USER)? + server.seconds(Stat::ENDED_SYSTEM)?;
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let processes = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let children = processes.filter(|child| Stat::of(*child).and_then(|stat| stat.parent()) == Some(parent));
    let at_work: f64 = children.filter_map(cpu_seconds_of).sum();
    Some(ended + at_work + cpu_seconds_of(parent)?)
}

/// What Linux says of a process.
struct Stat(String);

impl Stat {
    // Where it stands, after the name.
    const PARENT: usize = 1;
    const USER: usize = 11;
    const SYSTEM: usize = 12;
    const ENDED_USER: usize = 13;
    const ENDED_SYSTEM: usize = 14;

    fn of(process: u32) -> Option<Stat> {
        fs::read_to_string(format!("/proc/{process}/stat")).ok().map(Stat)
    }

    fn name(&self) -> Option<&str> {
        self.0.split_once('(')?.1.rsplit_once(") ").map(|(name, _)| name)
    }

    /// The name may itself hold spaces.
    fn field(&self, index: usize) -> Option<&str> {
        self.0.rsplit(") ").next()?.split(' ').nth(index)
    }

    fn parent(&self) -> Option<u32> {
        self.field(Stat::PARENT)?.parse().ok()
    }

    fn seconds(&self, index: usize) -> Option<f64> {
        /// Linux counts in hundredths of a second.
        const TICKS: f64 = 100.0;
        Some(self.field(index)?.parse::<f64>().ok()? / TICKS)
    }
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
