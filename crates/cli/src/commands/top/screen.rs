//! The terminal: taken over while the view is open, and given back as it was.

use std::io::{self, Read, Write};

use tokio::sync::mpsc;

use super::frame::{Line, Size, Tone};
use super::view::{Key, keys};

/// The other screen, without a cursor.
const ENTER: &str = "\x1b[?1049h\x1b[?25l";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";

pub(super) struct Screen {
    has_colours: bool,
    #[cfg(unix)]
    saved: rustix::termios::Termios,
}

impl Screen {
    pub(super) fn enter() -> io::Result<Screen> {
        #[cfg(unix)]
        let saved = {
            let saved = rustix::termios::tcgetattr(io::stdin())?;
            let mut raw = saved.clone();
            raw.make_raw();
            rustix::termios::tcsetattr(io::stdin(), rustix::termios::OptionalActions::Now, &raw)?;
            saved
        };
        let screen = Screen {
            has_colours: std::env::var_os("NO_COLOR").is_none(),
            #[cfg(unix)]
            saved,
        };
        write!(io::stdout(), "{ENTER}")?;
        io::stdout().flush()?;
        Ok(screen)
    }

    pub(super) fn size() -> Size {
        let size = terminal_size::terminal_size_of(io::stdout());
        let (width, height) = size.map_or((80, 24), |(width, height)| (width.0, height.0));
        Size { width: usize::from(width), height: Some(usize::from(height)) }
    }

    /// In one write, so that no half of a frame is seen.
    pub(super) fn draw(&self, lines: &[Line]) -> io::Result<()> {
        let mut bytes = String::new();
        for (row, line) in (1..).zip(lines) {
            let (before, after) = if self.has_colours { colours(line.tone) } else { ("", "") };
            let text: String = line.text.chars().map(harmless).collect();
            bytes.push_str(&format!("\x1b[{row};1H{before}{text}{after}\x1b[K"));
        }
        let mut out = io::stdout().lock();
        out.write_all(bytes.as_bytes())?;
        out.flush()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // The process ends next; there is nobody left to be told.
        #[cfg(unix)]
        let _ = rustix::termios::tcsetattr(io::stdin(), rustix::termios::OptionalActions::Now, &self.saved);
        let _ = write!(io::stdout(), "{LEAVE}").and_then(|()| io::stdout().flush());
    }
}

/// What a workflow is called must not steer the terminal.
fn harmless(letter: char) -> char {
    if letter.is_control() { char::REPLACEMENT_CHARACTER } else { letter }
}

fn colours(tone: Tone) -> (&'static str, &'static str) {
    match tone {
        Tone::Plain => ("", ""),
        Tone::Title => ("\x1b[7m", "\x1b[0m"),
        Tone::Alarm => ("\x1b[1;31m", "\x1b[0m"),
        Tone::Quiet => ("\x1b[2m", "\x1b[0m"),
    }
}

/// The keys that are pressed, read by a thread that ends with the process.
pub(super) fn pressed() -> mpsc::UnboundedReceiver<Key> {
    let (sender, receiver) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        let mut bytes = [0; 64];
        while let Ok(length @ 1..) = io::stdin().read(&mut bytes) {
            if keys(&bytes[..length]).into_iter().any(|key| sender.send(key).is_err()) {
                return;
            }
        }
    });
    receiver
}
