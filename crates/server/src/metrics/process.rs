//! What the process costs its machine, under the names that Prometheus clients share. Read from `/proc`; where there is none,
//! nothing is shown.

use std::fmt;
use std::sync::LazyLock;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;

use super::page::Page;

/// The unit in which Linux tells programs how much processor time was used, whatever the kernel itself counts in.
const TICKS_PER_SECOND: f64 = 100.0;

/// When the machine was started, in seconds since 1970.
static BOOTED_AT: LazyLock<Option<f64>> = LazyLock::new(|| {
    let stat = std::fs::read_to_string("/proc/stat").ok()?;
    stat.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()
});

/// The process at one moment.
#[derive(Debug)]
pub(super) struct Process {
    cpu_seconds: f64,
    started_at: f64,
    virtual_bytes: u64,
    resident_bytes: u64,
    threads: u64,
    open_fds: u64,
    max_fds: u64,
}

impl Process {
    pub(super) fn now() -> Option<Process> {
        let read = |file: &str| std::fs::read_to_string(format!("/proc/self/{file}")).ok();
        let open_fds = std::fs::read_dir("/proc/self/fd").ok()?.count() as u64;
        Process::read(&read("stat")?, &read("status")?, &read("limits")?, (open_fds, (*BOOTED_AT)?))
    }

    fn read(stat: &str, status: &str, limits: &str, (open_fds, booted_at): (u64, f64)) -> Option<Process> {
        // The name of the program may have spaces and brackets in it; the rest comes after its last one.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = |field: usize| fields.get(field)?.parse::<f64>().ok();
        let kilobytes = |name: &str| -> Option<u64> {
            let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
            line.split_whitespace().next()?.parse().ok()
        };
        let most = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
        let most = most.split_whitespace().next()?;
        Some(Process {
            cpu_seconds: (ticks(11)? + ticks(12)?) / TICKS_PER_SECOND,
            started_at: booted_at + ticks(19)? / TICKS_PER_SECOND,
            virtual_bytes: kilobytes("VmSize")? * 1024,
            resident_bytes: kilobytes("VmRSS")? * 1024,
            threads: kilobytes("Threads")?,
            open_fds,
            max_fds: most.parse().unwrap_or(u64::MAX),
        })
    }
}

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let page = &mut Page(&mut encoder);
        page.counter("process_cpu_seconds", "Processor time that the process used.", self.cpu_seconds)?;
        let help = "When the process was started, in seconds since 1970.";
        page.gauge("process_start_time_seconds", help, self.started_at)?;
        page.gauge("process_resident_memory_bytes", "Memory that the process has.", self.resident_bytes)?;
        page.gauge("process_virtual_memory_bytes", "Addresses that the process has.", self.virtual_bytes)?;
        page.gauge("process_threads", "Threads of the process.", self.threads)?;
        page.gauge("process_open_fds", "Files and connections that are open.", self.open_fds)?;
        page.gauge("process_max_fds", "Files and connections that may be open.", self.max_fds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_whatever_the_program_is_called() {
        let stat = "7 (a b) c) S 1 7 7 0 -1 4194560 1 0 0 0 150 50 0 0 20 0 9 0 1000 2 3 4";
        let status = "Name:\ta b) c\nVmSize:\t  2048 kB\nVmRSS:\t  1024 kB\nThreads:\t9\n";
        let limits = "Limit                     Soft Limit           Hard Limit           Units\n\
                      Max open files            4096                 8192                 files\n";
        let process = Process::read(stat, status, limits, (12, 1_700_000_000.0)).unwrap();
        assert_eq!((process.cpu_seconds, process.started_at), (2.0, 1_700_000_010.0));
        assert_eq!((process.virtual_bytes, process.resident_bytes), (2 << 20, 1 << 20));
        assert_eq!((process.threads, process.open_fds, process.max_fds), (9, 12, 4096));
    }
}
