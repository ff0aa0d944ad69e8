//! The search index: every section of every page, as text. The reader's browser searches it; nobody else is asked.

use std::fmt::Write;

use crate::{Book, place};

pub(crate) const INDEX: &str = "search.json";

/// `[[url, page, heading, text], …]`
pub(crate) fn index(book: &Book) -> String {
    let mut json = String::from("[");
    for page in book.pages.values().filter(|page| page.is_markdown()) {
        let url = place::in_book(&page.path);
        for section in &page.sections {
            let at =
                if section.anchor.is_empty() { url.clone() } else { format!("{url}#{}", section.anchor) };
            let text = section.text.split_whitespace().collect::<Vec<_>>().join(" ");
            let separator = if json.len() == 1 { "" } else { ",\n" };
            write!(
                json,
                "{separator}[{},{},{},{}]",
                quoted(&at),
                quoted(&page.title),
                quoted(&section.heading),
                quoted(&text)
            )
            .expect("a String takes everything");
        }
    }
    json.push(']');
    json
}

fn quoted(text: &str) -> String {
    let mut json = String::with_capacity(text.len() + 2);
    json.push('"');
    for c in text.chars() {
        match c {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            c if c.is_control() => json.push(' '),
            c => json.push(c),
        }
    }
    json.push('"');
    json
}
