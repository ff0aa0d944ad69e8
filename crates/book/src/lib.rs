//! The book: the pages of `docs/SUMMARY.md` as HTML, with the files that they link to, a search index and nothing from
//! elsewhere. Reads files and makes files; it serves nothing.

mod highlight;
mod page;
mod place;
mod plain;
mod search;
mod slug;
mod summary;
mod template;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

pub use crate::page::{Code, Page};
pub use crate::summary::{Chapter, Part};

/// What keeps a book from being made at all. A link that leads nowhere is a [`Book::problems`] instead.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{path} cannot be read: {source}")]
    Unreadable { path: PathBuf, source: std::io::Error },
    #[error("docs/SUMMARY.md:{line}: {text:?} is neither a part nor a link to a page")]
    Summary { line: usize, text: String },
}

/// A file of the book, by its path from the book's root.
#[derive(Debug)]
pub struct File {
    pub path: String,
    pub bytes: Vec<u8>,
}

/// Every page of the book, read, with the links between them resolved.
#[derive(Debug)]
pub struct Book {
    root: PathBuf,
    pub parts: Vec<Part>,
    /// By their path in the repository: those of the summary, and files elsewhere in the repository that they link to.
    pub pages: BTreeMap<String, Page>,
    images: BTreeSet<String>,
    /// Links and paths that lead nowhere, and pages that nothing leads to.
    pub problems: Vec<String>,
}

impl Book {
    /// Reads the book of the repository whose root is given.
    pub fn read(root: &Path) -> Result<Book, Error> {
        let parts = summary::parse(&read(root, place::SUMMARY)?)?;
        let mut book = Book {
            root: root.to_owned(),
            parts,
            pages: BTreeMap::new(),
            images: BTreeSet::new(),
            problems: Vec::new(),
        };
        let mut wanted: Vec<String> = book.chapters().map(|chapter| chapter.path.clone()).collect();
        while let Some(path) = wanted.pop() {
            if book.pages.contains_key(&path) {
                continue;
            }
            let text = read(root, &path)?;
            let page = Page::read(&path, without_front_matter(text), root);
            wanted.extend(page.links.iter().filter(|link| link.page).map(|link| link.path.clone()));
            book.images.extend(page.links.iter().filter(|link| link.image).map(|link| link.path.clone()));
            book.pages.insert(path, page);
        }
        book.problems = book.find_problems();
        Ok(book)
    }

    /// The chapters in the order in which they are read.
    pub fn chapters(&self) -> impl Iterator<Item = &Chapter> {
        self.parts.iter().flat_map(|part| &part.chapters)
    }

    /// Every file of the book.
    pub fn files(&self) -> Result<Vec<File>, Error> {
        let mut files: Vec<File> = template::ASSETS
            .iter()
            .map(|(path, text)| File { path: (*path).to_owned(), bytes: text.as_bytes().to_vec() })
            .collect();
        for (path, page) in &self.pages {
            let html = template::page(self, page);
            files.push(File { path: place::in_book(path), bytes: html.into_bytes() });
        }
        for path in self.pages.keys() {
            if let Some(plain) = plain::in_book(path) {
                files.push(File { path: plain, bytes: read(&self.root, path)?.into_bytes() });
            }
        }
        files.push(File { path: plain::LIST.to_owned(), bytes: plain::list(self).into_bytes() });
        files.push(File { path: search::INDEX.to_owned(), bytes: search::index(self).into_bytes() });
        for image in &self.images {
            let path = self.root.join(image);
            let bytes = fs::read(&path).map_err(|source| Error::Unreadable { path, source })?;
            files.push(File { path: place::in_book(image), bytes });
        }
        Ok(files)
    }

    fn find_problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for page in self.pages.values() {
            for link in &page.links {
                if let Some(problem) = self.problem_of(link) {
                    problems.push(format!("{}: {}: {problem}", page.path, link.written));
                }
            }
        }
        let known: BTreeSet<&str> = self.chapters().map(|chapter| chapter.path.as_str()).collect();
        for path in place::markdown(&self.root.join(place::DOCS)) {
            let path = format!("{}/{path}", place::DOCS);
            if path != place::SUMMARY && !known.contains(path.as_str()) {
                problems.push(format!("{path} is not in {}", place::SUMMARY));
            }
        }
        problems
    }

    fn problem_of(&self, link: &page::Link) -> Option<&'static str> {
        if !self.root.join(&link.path).exists() {
            return Some("there is no such file");
        }
        let anchor = link.anchor.as_deref()?;
        let page = self.pages.get(&link.path)?;
        (!page.anchors().any(|known| known == anchor)).then_some("that page has no such heading")
    }
}

/// What programs read before the page begins is not a part of it.
fn without_front_matter(text: String) -> String {
    let rest = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
    rest.map_or(text.clone(), |(_, page)| page.to_owned())
}

fn read(root: &Path, path: &str) -> Result<String, Error> {
    let path = root.join(path);
    fs::read_to_string(&path).map_err(|source| Error::Unreadable { path, source })
}
