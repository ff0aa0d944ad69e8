//! The book for programs that read: every page as the Markdown that it was written in, and `llms.txt`, the list of them
//! (llmstxt.org).

use std::fmt::Write;

use crate::{Book, place};

/// The list of pages, by its path in the book.
pub(crate) const LIST: &str = "llms.txt";
/// How much of a page's first words stand in the list.
const ABOUT_CHARS: usize = 160;

/// The path in the book of a page's Markdown.
pub(crate) fn in_book(path: &str) -> Option<String> {
    let html = place::in_book(path);
    path.ends_with(".md").then(|| format!("{}.md", html.trim_end_matches(".html")))
}

/// Links are relative to the root of the server, where the list is, too.
pub(crate) fn list(book: &Book) -> String {
    let mut list = String::from(
        "# abide\n\n> A durable workflow engine in which waiting is the first-class thing: a run may sleep for a second or a year, wait \
         for a signal, an event, a webhook, a person or a model, and goes on exactly once.\n\nEvery page is Markdown. The HTTP API is at \
         openapi.json; clients of the Model Context Protocol connect to mcp.\n",
    );
    for part in &book.parts {
        let title = if part.title.is_empty() { "Start" } else { &part.title };
        write!(list, "\n## {title}\n\n").expect("a String takes everything");
        for chapter in &part.chapters {
            let Some(path) = in_book(&chapter.path) else { continue };
            let about = book.pages.get(&chapter.path).map(|page| page.about(ABOUT_CHARS)).unwrap_or_default();
            let about = if about.is_empty() { about } else { format!(": {about}") };
            writeln!(list, "- [{}](book/{path}){about}", chapter.title).expect("a String takes everything");
        }
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_its_markdown_beside_it() {
        assert_eq!(in_book("docs/README.md").as_deref(), Some("index.md"));
        assert_eq!(in_book("docs/guides/mcp.md").as_deref(), Some("guides/mcp.md"));
        assert_eq!(in_book("ARCHITECTURE.md").as_deref(), Some("source/ARCHITECTURE.md"));
        assert_eq!(in_book("examples/tea-order.yaml"), None);
    }
}
