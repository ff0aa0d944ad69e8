//! The words and patterns that an answer must not contain.

use regex::{Regex, RegexBuilder};

/// A compiled pattern. Patterns come from authors.
const PATTERN_BYTES: usize = 1024 * 1024;

/// A word is found as a whole word, whatever its case; between slashes it is a pattern.
pub fn blocked_pattern(word: &str) -> Result<Regex, String> {
    let source = match word.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')) {
        Some(pattern) => pattern.to_owned(),
        None => whole_word(word),
    };
    RegexBuilder::new(&source)
        .case_insensitive(true)
        .size_limit(PATTERN_BYTES)
        .dfa_size_limit(PATTERN_BYTES)
        .build()
        .map_err(|error| error.to_string())
}

/// A boundary of words is only where the word begins or ends with a letter.
fn whole_word(word: &str) -> String {
    let edge = |char: Option<char>| if char.is_some_and(char::is_alphanumeric) { r"\b" } else { "" };
    format!("{}{}{}", edge(word.chars().next()), regex::escape(word), edge(word.chars().last()))
}
