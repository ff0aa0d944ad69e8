//! Opens the dashboard in a browser, where there is somebody to look at it.

use std::io::{self, IsTerminal};
use std::process::{Command, Stdio};

/// What the flags say about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    Open,
    Leave,
    /// Where a browser can be shown.
    IfPossible,
}

/// Whether a browser is to be opened: never unless somebody sits at a terminal.
pub(crate) fn is_to_open(wish: Wish) -> bool {
    io::stdout().is_terminal()
        && match wish {
            Wish::Open => true,
            Wish::Leave => false,
            Wish::IfPossible => has_screen(),
        }
}

/// Over SSH, or without a desktop, the browser would be somebody else's.
fn has_screen() -> bool {
    let has = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !has("SSH_CONNECTION") && (!cfg!(target_os = "linux") || has("DISPLAY") || has("WAYLAND_DISPLAY"))
}

/// Starts whatever opens pages here, and does not wait for it.
pub(crate) fn open(url: &str) -> io::Result<()> {
    let mut command = if cfg!(target_os = "macos") {
        Command::new("open")
    } else if cfg!(windows) {
        let mut command = Command::new("cmd");
        command.args(["/c", "start", ""]);
        command
    } else {
        Command::new("xdg-open")
    };
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    std::thread::spawn(move || drop(child.wait()));
    Ok(())
}
