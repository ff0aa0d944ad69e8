//! The files below a few places, bounded, without those that nobody writes by hand.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::watch::{Seen, Signature};

/// Files and directories that one look takes in.
const ENTRIES: usize = 20_000;
const DEPTH: usize = 16;
/// Directories that are made by tools.
const MADE: [&str; 4] = ["node_modules", "target", "__pycache__", "venv"];

#[derive(Debug, Default)]
pub(super) struct Scan {
    pub(super) seen: Seen,
    /// There are more than are looked at.
    pub(super) more: bool,
    entries: usize,
}

/// Files that are named count whatever they are called; of those in directories, the wanted ones.
pub(super) fn scan(places: &[PathBuf], wanted: fn(&Path) -> bool) -> Scan {
    let mut scan = Scan::default();
    for place in places {
        match fs::metadata(place) {
            Ok(metadata) if metadata.is_dir() => scan.directory(&without_dot(place), wanted, 0),
            Ok(metadata) => drop(scan.seen.insert(place.clone(), Signature::from(&metadata))),
            // It may come back.
            Err(_) => {}
        }
    }
    scan
}

/// Whether a place can be looked at.
pub(super) fn check(place: &Path) -> Result<(), String> {
    let readable = fs::metadata(place).and_then(|metadata| {
        if metadata.is_dir() { fs::read_dir(place).map(drop) } else { fs::File::open(place).map(drop) }
    });
    readable.map_err(|why: io::Error| format!("{}: {why}", place.display()))
}

pub(super) fn is_definition(path: &Path) -> bool {
    let ending = path.extension().and_then(OsStr::to_str);
    ending.is_some_and(|ending| matches!(ending, "json" | "yaml" | "yml"))
}

/// `orders.yaml`, not `./orders.yaml`.
fn without_dot(place: &Path) -> PathBuf {
    if place == Path::new(".") { PathBuf::new() } else { place.to_owned() }
}

impl Scan {
    fn directory(&mut self, directory: &Path, wanted: fn(&Path) -> bool, depth: usize) {
        let named = if directory == Path::new("") { Path::new(".") } else { directory };
        let Ok(entries) = fs::read_dir(named) else { return };
        for entry in entries.flatten() {
            if self.entries >= ENTRIES || depth >= DEPTH {
                self.more = true;
                return;
            }
            self.entries += 1;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with('.') || MADE.contains(&&*name) {
                continue;
            }
            let path = directory.join(entry.file_name());
            let Ok(kind) = entry.file_type() else { continue };
            // A link to a directory may lead back to where it is.
            if kind.is_dir() {
                self.directory(&path, wanted, depth + 1);
            } else if wanted(&path)
                && let Ok(metadata) = fs::metadata(&path)
                && metadata.is_file()
            {
                self.seen.insert(path, Signature::from(&metadata));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_looked_through_but_for_what_tools_make_and_named_files_always_count() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for directory in ["flows/more", "node_modules/x", ".hidden"] {
            fs::create_dir_all(at(directory)).unwrap();
        }
        for file in
            ["flows/a.yaml", "flows/more/b.json", "flows/c.txt", "node_modules/x/d.json", ".hidden/e.json"]
        {
            fs::write(at(file), "x").unwrap();
        }
        let found =
            |places: &[PathBuf]| -> Vec<PathBuf> { scan(places, is_definition).seen.into_keys().collect() };
        assert_eq!(found(&[folder.path().to_owned()]), [at("flows/a.yaml"), at("flows/more/b.json")]);
        assert_eq!(found(&[at("flows/c.txt")]), [at("flows/c.txt")]);
        assert!(found(&[at("nothing")]).is_empty());
        assert!(check(&at("nothing")).unwrap_err().contains("nothing"));
    }
}
