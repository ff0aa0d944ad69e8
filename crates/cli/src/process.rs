//! What the process of a server needs, whichever command started it: its log, its files, its signals.

use std::io::{self, IsTerminal};

use abide_server::Limits;
use anyhow::Context;
use tracing_subscriber::EnvFilter;

use crate::config::Config;

/// Logs go to the standard error.
pub(crate) fn start_log(level: &str, config: &Config) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(level);
    let filter = filter.context("log is not a level such as `info`, or `abide_server=debug`")?;
    let colours = io::stderr().is_terminal();
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).with_ansi(colours);
    if config.logs_json()? {
        // One object a line, with nothing nested: docs/operating/logs.md says which fields there are.
        log.json().flatten_event(true).init()
    } else {
        log.init()
    }
    Ok(())
}

/// Lets the process open as many files as it may, and takes no more connections than there can be: ten thousand idle
/// streams are ten thousand open files. Whoever asked for more is warned.
pub(crate) fn raise_file_limit(limits: &mut Limits, config: &Config) {
    let asked = limits.connections;
    match rlimit::increase_nofile_limit(u64::MAX) {
        Ok(files) => {
            let Some(most) = limits.within_files(files) else { return };
            let said = format!(
                "this process may open {files} files, so at most {most} connections are taken and not {asked}; raise the \
                 limit (`ulimit -n`, `LimitNOFILE=`) or lower --max-connections"
            );
            if config.is_given("max_connections") {
                tracing::warn!("{said}");
            } else {
                tracing::info!("{said}");
            }
        }
        Err(error) => tracing::warn!(%error, "the limit of open files could not be raised"),
    }
}

/// A file that may not grow any more is an error of the write, and not the end of the process.
#[cfg(unix)]
pub(crate) fn ignore_file_size_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    // With somebody who listens, it does not end the process any more, also when nobody does.
    if let Err(error) = signal(SignalKind::from_raw(SIGXFSZ)) {
        tracing::warn!(%error, "SIGXFSZ cannot be ignored");
    }
}

#[cfg(not(unix))]
pub(crate) fn ignore_file_size_signal() {}

/// The signal of a file that may not grow: 25 on every system that has it.
#[cfg(unix)]
const SIGXFSZ: i32 = 25;
