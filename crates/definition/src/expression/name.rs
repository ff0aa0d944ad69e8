//! What the parts of an expression are called in messages: as they are written.

use std::fmt;

use super::EvaluationError;

/// A part of an expression as written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name<'a> {
    text: &'a str,
    is_path: bool,
}

impl<'a> Name<'a> {
    pub(super) fn of_path(text: &'a str) -> Name<'a> {
        Name { text, is_path: true }
    }

    /// Of anything but a path.
    pub(super) fn of_part(text: &'a str) -> Name<'a> {
        Name { text, is_path: false }
    }

    pub(super) fn is_path(self) -> bool {
        self.is_path
    }

    /// An error about this part.
    pub(super) fn error(self, message: String) -> EvaluationError {
        EvaluationError { message, path: self.is_path.then(|| self.text.to_owned()) }
    }

    pub(super) fn undefined(self) -> EvaluationError {
        self.error(format!("{self} is undefined; give a default: `{self:#} ?? …`"))
    }
}

/// In backquotes, and without in the alternate form.
impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = excerpt(self.text);
        if f.alternate() { f.write_str(&text) } else { write!(f, "`{text}`") }
    }
}

/// Shortened, to be shown.
pub(super) fn excerpt(text: &str) -> String {
    const SHOWN_CHARS: usize = 100;
    match text.char_indices().nth(SHOWN_CHARS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
