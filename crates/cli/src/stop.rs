//! When somebody wants the process to end.

/// Hears SIGINT and SIGTERM, any number of times.
#[derive(Debug)]
pub(crate) struct StopSignals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

impl StopSignals {
    #[cfg(unix)]
    pub(crate) fn listen() -> std::io::Result<StopSignals> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(StopSignals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    #[cfg(unix)]
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    #[cfg(not(unix))]
    pub(crate) fn listen() -> std::io::Result<StopSignals> {
        Ok(StopSignals {})
    }

    #[cfg(not(unix))]
    pub(crate) async fn next(&mut self) {
        drop(tokio::signal::ctrl_c().await);
    }
}
