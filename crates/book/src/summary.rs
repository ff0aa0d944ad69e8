//! `docs/SUMMARY.md`: the parts of the book and their chapters, in the order in which they are read.

use crate::Error;

#[derive(Debug, PartialEq, Eq)]
pub struct Part {
    /// Empty for what stands before the first part.
    pub title: String,
    pub chapters: Vec<Chapter>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Chapter {
    pub title: String,
    /// From the root of the repository.
    pub path: String,
    /// How deep it stands: 0 for a chapter, 1 for a page of one.
    pub depth: usize,
}

pub(crate) fn parse(text: &str) -> Result<Vec<Part>, Error> {
    let mut parts = vec![Part { title: String::new(), chapters: Vec::new() }];
    for (number, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        if trimmed.is_empty() || number == 0 {
            continue;
        }
        if let Some(title) = trimmed.strip_prefix("# ") {
            parts.push(Part { title: title.to_owned(), chapters: Vec::new() });
            continue;
        }
        let link = trimmed.strip_prefix("- ").unwrap_or(trimmed);
        let (title, path) = link
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(')'))
            .and_then(|rest| rest.split_once("]("))
            .ok_or_else(|| Error::Summary { line: number + 1, text: line.to_owned() })?;
        let path = crate::place::resolved(crate::place::SUMMARY, path)
            .ok_or_else(|| Error::Summary { line: number + 1, text: line.to_owned() })?;
        let depth = (line.len() - line.trim_start().len()) / 2;
        let part = parts.last_mut().expect("there is one from the beginning");
        part.chapters.push(Chapter { title: title.to_owned(), path, depth });
    }
    parts.retain(|part| !part.chapters.is_empty());
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_chapters_and_pages_come_in_their_order() {
        let text = "# Summary\n\n[Welcome](README.md)\n\n# Guides\n\n- [Tea](guides/tea.md)\n  - [Green](guides/green.md)\n- [Map](../ARCHITECTURE.md)\n";
        let parts = parse(text).expect("it is right");
        assert_eq!(parts[0].chapters[0].path, "docs/README.md");
        let guides: Vec<_> = parts[1].chapters.iter().map(|c| (c.path.as_str(), c.depth)).collect();
        assert_eq!(guides, [("docs/guides/tea.md", 0), ("docs/guides/green.md", 1), ("ARCHITECTURE.md", 0)]);
    }

    #[test]
    fn a_line_that_is_no_link_is_named() {
        let error = parse("# Summary\n\n- Tea\n").expect_err("no link");
        assert!(error.to_string().starts_with("docs/SUMMARY.md:3"), "{error}");
    }
}
