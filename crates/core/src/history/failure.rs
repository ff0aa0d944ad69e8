//! Why something failed, as far as whoever reported it could tell: bounded, and without what looks like a secret.

use std::sync::{Arc, LazyLock};

use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::limits;

/// Why a step or a run failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Failure {
    /// The code of the failure: stable where it is the engine's (`WAIT_TIMED_OUT`); a worker may give its own.
    pub code: Arc<str>,
    /// What went wrong, for people.
    pub message: String,
    /// The name of the step that a run failed with; `None` where the failure is the step's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<Arc<str>>,
    /// Where in the handler the failure came from, as far as the worker could tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Box<FailureDetail>>,
}

/// Where a failure of a handler came from: the error's type, the durable call, the stack and the causes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FailureDetail {
    /// The error's type in the handler's language: `ZeroDivisionError`.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The durable call that failed: the name of a `ctx.run`, or of a wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// The attempt of the step that failed, from 1.
    #[serde(default)]
    pub attempt: u32,
    /// The stack trace, bounded, with what looks like a secret redacted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// The errors that the failure was caused by, the nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<FailureCause>,
}

/// An error that another one was caused by.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FailureCause {
    /// The type of the error in the handler's language.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The message of the error, bounded and redacted.
    pub message: String,
}

impl Failure {
    /// A failure with a stable code and a message, and nothing else known about it.
    pub fn new(code: &str, message: impl Into<String>) -> Failure {
        Failure { code: code.into(), message: message.into(), step: None, detail: None }
    }

    /// The failure without its stack, for the run that failed with its step: the step keeps the whole.
    pub(crate) fn brief(&self) -> Failure {
        let detail = self.detail.clone().map(|detail| Box::new(FailureDetail { stack: None, ..*detail }));
        Failure { detail, ..self.clone() }
    }

    /// The failure with a message of at most so many characters, and without what looks like a secret.
    pub(crate) fn shortened(self, chars: usize) -> Failure {
        Failure { message: shortened(&redacted(&self.message), chars), ..self }
    }
}

/// The text, or its beginning where the text is longer than so many characters.
pub(crate) fn shortened(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some(_) => text.chars().take(chars.saturating_sub(1)).chain(['…']).collect(),
        None => text.to_owned(),
    }
}

impl FailureDetail {
    /// The detail as it is recorded: bounded, and with what looks like a secret redacted.
    pub(crate) fn recorded(self, attempt: u32) -> FailureDetail {
        let name = |name: String| cut(&name, limits::NAME_CHARS);
        let cause = |cause: FailureCause| FailureCause {
            kind: cause.kind.map(name),
            message: cut(&redacted(&cause.message), limits::FAILURE_CAUSE_BYTES),
        };
        FailureDetail {
            kind: self.kind.map(name),
            call: self.call.map(name),
            attempt,
            stack: self.stack.map(|stack| cut(&redacted(&stack), limits::FAILURE_STACK_BYTES)),
            causes: self.causes.into_iter().take(limits::FAILURE_CAUSES).map(cause).collect(),
        }
    }
}

/// What is said instead of a secret.
const HIDDEN: &str = "[redacted]";

static SECRETS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let name =
        "[a-z0-9_-]*(?:password|passwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)[a-z0-9_-]*";
    [
        // Credentials in a header's value.
        r"(?i)\b(bearer |basic )[a-z0-9+/=._~-]{8,}".to_owned(),
        r"(?i)\b((?:authorization|proxy-authorization|cookie|set-cookie|x-api-key)\s*[:=]\s*)[^\r\n]+"
            .to_owned(),
        // Credentials in a URL.
        r"(://)[^/\s:@]+:[^/\s@]+(@)".to_owned(),
        // `password=…` in queries and settings, `"apiKey": "…"` in JSON.
        format!(r#"(?i)\b({name}=)[^\s&"',;)\]}}]{{4,}}"#),
        format!(r#"(?i)(["']{name}["']\s*:\s*["'])[^"'\r\n]{{4,}}(["'])"#),
        // Keys whose first letters say what they are.
        r"\b()(?:sk|pk|rk|ghp|gho|ghs|xox[abp]|abide)[-_][A-Za-z0-9_-]{16,}".to_owned(),
        r"\b()eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*".to_owned(),
        r"\b()AKIA[0-9A-Z]{16}\b".to_owned(),
    ]
    .iter()
    .map(|pattern| Regex::new(pattern).expect("the patterns are ours"))
    .collect()
});

/// A text without what looks like a secret: credentials in headers and URLs, values of `password=`, well-known keys.
pub(crate) fn redacted(text: &str) -> String {
    SECRETS.iter().fold(text.to_owned(), |text, secret| {
        if !secret.is_match(&text) {
            return text;
        }
        let hide = |found: &regex::Captures<'_>| {
            let part = |index| found.get(index).map_or("", |part| part.as_str());
            format!("{}{HIDDEN}{}", part(1), part(2))
        };
        secret.replace_all(&text, hide).into_owned()
    })
}

/// A text of at most so many bytes: the middle goes, since one end says where it began and the other where it broke.
pub(crate) fn cut(text: &str, bytes: usize) -> String {
    const GONE: &str = "\n…\n";
    if text.len() <= bytes {
        return text.to_owned();
    }
    let each = bytes.saturating_sub(GONE.len()) / 2;
    let head = &text[..text.floor_char_boundary(each)];
    let tail = &text[text.ceil_char_boundary(text.len() - each)..];
    format!("{head}{GONE}{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_secret_is_hidden_and_the_rest_stays() {
        let hidden = [
            ("Authorization: Bearer abc.def", "Authorization: [redacted]"),
            ("sent Bearer abcdefgh12", "sent Bearer [redacted]"),
            ("postgres://ana:hunter2@db:5432/x", "postgres://[redacted]@db:5432/x"),
            ("GET /x?token=12345678&page=2", "GET /x?token=[redacted]&page=2"),
            (r#"{"apiKey": "k-12345", "n": 1}"#, r#"{"apiKey": "[redacted]", "n": 1}"#),
            ("key sk-abcdefghijklmnopqrst is bad", "key [redacted] is bad"),
        ];
        for (text, shown) in hidden {
            assert_eq!(redacted(text), shown);
        }
        for text in
            ["Unexpected token < in JSON", "the token: expected a string", "no secret here", "basic math"]
        {
            assert_eq!(redacted(text), text);
        }
    }

    #[test]
    fn a_long_text_keeps_both_ends() {
        let cut = cut(&format!("begin{}end", "é".repeat(500)), 100);
        assert!(cut.len() <= 100 && cut.starts_with("begin") && cut.ends_with("end"), "{cut}");
    }
}
