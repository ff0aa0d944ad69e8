//! When somebody wants the process to end.

/// Hears SIGINT and SIGTERM, and SIGHUP if that is wanted, any number of times.
#[derive(Debug)]
pub(crate) struct StopSignals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    hangup: Option<tokio::signal::unix::Signal>,
}

impl StopSignals {
    #[cfg(unix)]
    pub(crate) fn listen() -> std::io::Result<StopSignals> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(StopSignals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: None,
        })
    }

    /// Also when the terminal is closed: for those who have others to end before they end.
    pub(crate) fn listen_to_hangups_too() -> std::io::Result<StopSignals> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            Ok(StopSignals { hangup: Some(signal(SignalKind::hangup())?), ..StopSignals::listen()? })
        }
        #[cfg(not(unix))]
        StopSignals::listen()
    }

    #[cfg(unix)]
    pub(crate) async fn next(&mut self) {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => drop(hangup.recv().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            () = hangup => {}
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
