//! The source files of the repository, as text.

use std::fs;
use std::path::{Path, PathBuf};

/// A file of Rust, with its path from the root of the repository.
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    /// Numbered lines, without comments and without what is between quotation marks.
    pub(crate) fn code(&self) -> impl Iterator<Item = (usize, String)> {
        (1..).zip(self.text.lines()).map(|(number, line)| {
            let mut code = String::with_capacity(line.len());
            let (mut in_text, mut before) = (false, ' ');
            let mut rest = line.chars().peekable();
            while let Some(c) = rest.next() {
                if !in_text && c == '/' && rest.peek() == Some(&'/') {
                    break;
                }
                if c == '"' && before != '\\' && before != '\'' {
                    in_text = !in_text;
                } else if !in_text {
                    code.push(c);
                }
                before = c;
            }
            (number, code)
        })
    }

    /// The first line of each doc comment.
    pub(crate) fn first_lines_of_docs(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut was_doc = false;
        (1..).zip(self.text.lines()).filter_map(move |(number, line)| {
            let doc = line.trim_start().strip_prefix("///").map(str::trim);
            let first = doc.filter(|_| !was_doc);
            was_doc = doc.is_some();
            Some((number, first?))
        })
    }

    /// The first sentence of the module's own comment.
    pub(crate) fn header(&self) -> String {
        let lines = self.text.lines().skip_while(|line| !line.starts_with("//!"));
        let lines = lines.map_while(|line| line.strip_prefix("//!")).map(str::trim);
        let paragraph: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
        let text = paragraph.join(" ");
        match text.split_once(". ") {
            Some((first, _)) => format!("{first}."),
            None => text,
        }
    }
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every source file of the crates and of the Rust SDK, but for what is generated.
pub(crate) fn sources() -> Vec<Source> {
    let mut files = Vec::new();
    for folder in folders() {
        collect(&folder.join("src"), &mut files);
    }
    let root = root();
    let mut sources: Vec<Source> = files
        .into_iter()
        .filter(|file| !file.ends_with("sdk/rust/src/wire.rs"))
        .map(|file| {
            let path = file.strip_prefix(&root).unwrap().display().to_string();
            Source { path, text: fs::read_to_string(&file).unwrap() }
        })
        .collect();
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    sources
}

/// The folders of all crates, in the order of their names; the SDK last.
pub(crate) fn folders() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("crates")).unwrap();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    folders.retain(|folder| folder.join("Cargo.toml").is_file());
    folders.sort();
    folders.push(root().join("sdk/rust"));
    folders
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}
