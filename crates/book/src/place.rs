//! Where a file of the repository stands in the book.

use std::path::{Component, Path};

pub(crate) const DOCS: &str = "docs";
pub(crate) const SUMMARY: &str = "docs/SUMMARY.md";
/// Folder of the book with files that are not of `docs/`.
const ELSEWHERE: &str = "source";

/// The path in the book of a file, by its path in the repository.
pub(crate) fn in_book(path: &str) -> String {
    let path = match path.strip_prefix("docs/") {
        Some("README.md") => return "index.html".to_owned(),
        Some(inside) => inside.to_owned(),
        None => format!("{ELSEWHERE}/{path}"),
    };
    match path.strip_suffix(".md") {
        Some(stem) => format!("{stem}.html"),
        None if is_image(&path) => path,
        None => format!("{path}.html"),
    }
}

pub(crate) fn is_image(path: &str) -> bool {
    [".png", ".svg"].iter().any(|end| path.ends_with(end))
}

/// A relative link of a file, as a path from the root of the repository. None if it leads out of it.
pub(crate) fn resolved(from: &str, link: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for component in Path::new(link).components() {
        match component {
            Component::Normal(part) => parts.push(part.to_str()?),
            Component::ParentDir => {
                parts.pop()?;
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir => return None,
        }
    }
    Some(parts.join("/"))
}

/// The link from one file of the book to another.
pub(crate) fn between(from: &str, to: &str) -> String {
    let (from, to): (Vec<&str>, Vec<&str>) = (from.split('/').collect(), to.split('/').collect());
    let folders = &from[..from.len() - 1];
    let shared = folders.iter().zip(&to[..to.len() - 1]).take_while(|(a, b)| a == b).count();
    let mut link = "../".repeat(folders.len() - shared);
    link.push_str(&to[shared..].join("/"));
    link
}

/// The Markdown files in a folder, with all its folders, by their path from it.
pub(crate) fn markdown(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let Ok(entries) = folder.read_dir() else { return found };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            found.extend(markdown(&entry.path()).iter().map(|inside| format!("{name}/{inside}")));
        } else if name.ends_with(".md") {
            found.push(name);
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_place_in_the_book() {
        assert_eq!(in_book("docs/README.md"), "index.html");
        assert_eq!(in_book("docs/reference/cli.md"), "reference/cli.html");
        assert_eq!(in_book("docs/pictures/run.svg"), "pictures/run.svg");
        assert_eq!(in_book("examples/tea-order.yaml"), "source/examples/tea-order.yaml.html");
        assert_eq!(in_book("sdk/rust/README.md"), "source/sdk/rust/README.html");
    }

    #[test]
    fn links_are_relative_so_that_the_book_can_stand_anywhere() {
        assert_eq!(between("index.html", "reference/cli.html"), "reference/cli.html");
        assert_eq!(between("reference/cli.html", "index.html"), "../index.html");
        assert_eq!(between("reference/steps/a.html", "reference/cli.html"), "../cli.html");
        assert_eq!(resolved("docs/reference/cli.md", "../glossary.md").as_deref(), Some("docs/glossary.md"));
        assert_eq!(resolved("README.md", "../elsewhere"), None);
    }
}
